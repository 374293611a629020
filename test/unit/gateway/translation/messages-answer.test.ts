import assert from 'node:assert/strict'
import { messages } from '../../../../src/gateway/translation/messages.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import { jsonText } from '../../../../src/kernel/json/text.js'
import { callChunk, chunkOf, completionOf, ended, eventsOf, usageChunk, wholeOf } from './translated.js'

const MODEL = { model: 'm' }

/** The events of a stream without its head, as short texts. */
const shown = (chunks: readonly JsonObject[], given: JsonObject = MODEL): readonly string[] =>
  eventsOf(messages, chunks, given)
    .slice(1)
    .map(({ event, value }) => {
      const { index, delta, content_block: block } = value as unknown as StreamedEvent
      if (event === 'content_block_start') return `${index} start ${jsonText(block)}`
      if (event === 'content_block_delta') return `${index} ${Object.values(delta).join(' ')}`
      if (event === 'content_block_stop') return `${index} stop`
      return event === 'message_delta' ? delta['stop_reason']! : event
    })

interface StreamedEvent {
  readonly index: number
  readonly delta: Readonly<Record<string, string>>
  readonly content_block: JsonObject
}

const TEXT = 'start {"type":"text","text":""}'
const THINKING = 'start {"type":"thinking","thinking":"","signature":""}'
const tool = (index: number, name = 'get') =>
  `start {"type":"tool_use","id":"call_${index}","name":"${name}","input":{}}`

const ARGUMENTS = '{"city":"Paris"}'

describe('a chat completion as an answer of the messages API', () => {
  it('has the head, a block and the end of a stream', () => {
    const usage = { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 }
    const chunks = [
      chunkOf({ role: 'assistant', content: '' }),
      chunkOf({ content: 'Hello' }),
      chunkOf({ content: '.' }),
      ended('stop'),
      usageChunk(usage),
    ]
    const usageOf = (input_tokens: number, output_tokens: number) => ({
      input_tokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens,
    })
    const message = {
      id: 'msg_abc',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: usageOf(0, 0),
    }
    const data = [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '.' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: usageOf(12, 4),
      },
      { type: 'message_stop' },
    ]
    assert.deepEqual(
      eventsOf(messages, chunks),
      data.map((value) => ({ event: value.type, value })),
    )
    assert.deepEqual(wholeOf(messages, completionOf({ content: 'Hello.' }, 'stop', { usage })), {
      ...message,
      content: [{ type: 'text', text: 'Hello.' }],
      stop_reason: 'end_turn',
      usage: usageOf(12, 4),
    })
  })

  describe('in a stream', () => {
    it('sends the head at once', () => {
      const answer = messages.answer({ given: MODEL, id: 'a', createdAt: 0 })
      assert.deepEqual(
        answer.chunk(chunkOf({ role: 'assistant' })).map(({ event }) => event),
        ['message_start'],
      )
      assert.deepEqual(answer.chunk(chunkOf({ role: 'assistant' })), [])
    })

    it('keeps reasoning apart from text', () => {
      const chunks = ['reasoning_content', 'reasoning'].map((key) => chunkOf({ [key]: 'I ' }))
      const twice = chunkOf({ reasoning_content: 'think.', reasoning: 'think.', content: null })
      assert.deepEqual(shown([...chunks, twice, chunkOf({ content: 'a' }), ended('stop')]), [
        `0 ${THINKING}`,
        '0 thinking_delta I ',
        '0 thinking_delta I ',
        '0 thinking_delta think.',
        '0 stop',
        `1 ${TEXT}`,
        '1 text_delta a',
        '1 stop',
        'end_turn',
        'message_stop',
      ])
    })

    it('reads lists of parts', () => {
      const content = [
        { type: 'thinking', thinking: [{ type: 'text', text: 'I think.' }] },
        { type: 'text', text: 'a' },
        { type: 'other' },
      ]
      assert.deepEqual(shown([chunkOf({ content }), ended('stop')]).slice(0, 5), [
        `0 ${THINKING}`,
        '0 thinking_delta I think.',
        '0 stop',
        `1 ${TEXT}`,
        '1 text_delta a',
      ])
    })

    it('closes a text before a tool call, and sends all pieces of arguments', () => {
      const chunks = [
        chunkOf({ content: 'look' }),
        callChunk(0, '', 'get'),
        callChunk(0, ARGUMENTS.slice(0, 8)),
        callChunk(0, ARGUMENTS.slice(8)),
        ended('tool_calls'),
      ]
      assert.deepEqual(shown(chunks), [
        `0 ${TEXT}`,
        '0 text_delta look',
        '0 stop',
        `1 ${tool(0)}`,
        `1 input_json_delta ${ARGUMENTS.slice(0, 8)}`,
        `1 input_json_delta ${ARGUMENTS.slice(8)}`,
        '1 stop',
        'tool_use',
        'message_stop',
      ])
    })

    it('holds back later calls until the open one is whole', () => {
      const answer = messages.answer({ given: MODEL, id: 'a', createdAt: 0 })
      const counts = [
        callChunk(0, '{"a"', 'get'),
        callChunk(1, '{"b":', 'put'),
        callChunk(0, ':1}'),
        callChunk(1, '2}'),
      ].map((chunk) => answer.chunk(chunk).length)
      assert.deepEqual(counts, [3, 0, 4, 1])
      const chunks = [
        callChunk(0, '{"a"', 'get'),
        callChunk(1, '{"b":', 'put'),
        callChunk(2, '{"c":3}', 'cut'),
        callChunk(1, '2}'),
        callChunk(0, ':1}'),
        ended('tool_calls'),
      ]
      assert.deepEqual(shown(chunks), [
        `0 ${tool(0)}`,
        '0 input_json_delta {"a"',
        '0 input_json_delta :1}',
        '0 stop',
        `1 ${tool(1, 'put')}`,
        '1 input_json_delta {"b":2}',
        '1 stop',
        `2 ${tool(2, 'cut')}`,
        '2 input_json_delta {"c":3}',
        '2 stop',
        'tool_use',
        'message_stop',
      ])
    })

    it('holds back a text that comes within a call', () => {
      const chunks = [
        callChunk(0, '{', 'get'),
        chunkOf({ content: 'a' }),
        callChunk(0, '}'),
        chunkOf({ content: 'b' }),
      ]
      assert.deepEqual(shown([...chunks, ended('stop')]).slice(0, 7), [
        `0 ${tool(0)}`,
        '0 input_json_delta {',
        '0 input_json_delta }',
        '0 stop',
        `1 ${TEXT}`,
        '1 text_delta a',
        '1 text_delta b',
      ])
    })

    const calls = (...all: readonly JsonObject[]) => [chunkOf({ tool_calls: all }), ended('stop')]
    const one = { id: 'call_0', function: { name: 'get', arguments: ARGUMENTS } }
    const whole = [`0 ${tool(0)}`, `0 input_json_delta ${ARGUMENTS}`, '0 stop', 'tool_use', 'message_stop']
    for (const [name, chunks] of [
      ['a whole call in one delta', calls({ index: 0, ...one })],
      ['a call without an index', calls(one)],
      [
        'an index as a string',
        [callChunk('0', '{"city"', 'get'), callChunk('0', ':"Paris"}'), ended('tool_calls')],
      ],
      [
        'a name in pieces',
        [
          callChunk(0, '', 'g'),
          chunkOf({ tool_calls: [{ index: 0, function: { name: 'et' } }] }),
          callChunk(0, ARGUMENTS),
        ],
      ],
      ['arguments as an object', calls({ ...one, function: { name: 'get', arguments: { city: 'Paris' } } })],
      ['no finish reason', calls(one).slice(0, 1)],
      ['an empty finish reason', [...calls(one), ended('')]],
    ] as const)
      it(`takes ${name}`, () => {
        const pieces = shown(chunks)
        const joined = pieces.filter((piece) => piece.startsWith('0 input')).map((piece) => piece.slice(19))
        assert.deepEqual(
          [pieces[0], `0 input_json_delta ${joined.join('')}`, ...pieces.slice(1 + joined.length)],
          whole,
        )
      })

    it('takes a message in place of deltas, and skips what a message repeats', () => {
      const message = { role: 'assistant', content: 'a', tool_calls: [one] }
      const chunks = [{ choices: [{ index: 0, message, finish_reason: 'stop' }] }]
      const events = shown(chunks)
      assert.deepEqual(events.slice(0, 3), [`0 ${TEXT}`, '0 text_delta a', '0 stop'])
      assert.deepEqual(shown([chunkOf({ content: 'a' }), ...chunks]), events)
    })

    it('gives an id to a call that has none', () => {
      const { content } = wholeOf(messages, completionOf({ tool_calls: [{ function: { name: 'a' } }] }))
      assert.deepEqual(content, [{ type: 'tool_use', id: 'call_abc_0', name: 'a', input: {} }])
    })

    it('skips other choices and values of another kind', () => {
      const chunks: JsonObject[] = [
        {},
        { choices: null },
        { choices: [null, 1, { index: 1, delta: { content: 'other' } }] },
        chunkOf({ content: 1, refusal: {}, reasoning: false, tool_calls: 'none' }),
        chunkOf({ tool_calls: [null, 1, []] }),
        chunkOf({ content: 'a' }, { finish_reason: 1 }),
      ]
      assert.deepEqual(shown(chunks), [`0 ${TEXT}`, '0 text_delta a', '0 stop', 'end_turn', 'message_stop'])
    })

    it('takes thousands of interleaved calls', () => {
      const indexes = Array.from({ length: 3000 }, (_, at) => at)
      const chunks = [
        ...indexes.map((at) => callChunk(at, '{"a":', 'get')),
        chunkOf({ content: 'b' }),
        ...indexes.map((at) => callChunk(at, '1}')),
        ...indexes.flatMap(() => [chunkOf({ content: 'b' }), chunkOf({ reasoning: 'c' })]),
      ]
      assert.equal(shown(chunks).at(-1), 'message_stop')
    })
  })

  describe('stops', () => {
    const call = [{ id: 'a', type: 'function', function: { name: 'get', arguments: '{}' } }]
    for (const [reason, message, stop] of [
      ['stop', { content: 'a' }, 'end_turn'],
      ['length', { content: 'a' }, 'max_tokens'],
      ['length', { tool_calls: call }, 'max_tokens'],
      ['tool_calls', { tool_calls: call }, 'tool_use'],
      ['stop', { tool_calls: call }, 'tool_use'],
      ['tool_calls', { content: 'a' }, 'end_turn'],
      ['content_filter', { content: 'a' }, 'refusal'],
      ['stop', { refusal: 'no' }, 'refusal'],
      ['eos', { content: 'a' }, 'end_turn'],
    ] as const)
      it(`with ${stop} for ${reason} and ${Object.keys(message)[0]}`, () => {
        assert.equal(wholeOf(messages, completionOf(message as JsonObject, reason))['stop_reason'], stop)
        assert.equal(shown([chunkOf(message as JsonObject), ended(reason)]).at(-2), stop)
      })

    it('with the stop sequence that the upstream names', () => {
      const given = { ...MODEL, stop_sequences: ['END'] }
      const of = (more: JsonObject) =>
        wholeOf(messages, { choices: [{ message: { content: 'a' }, finish_reason: 'stop', ...more }] }, given)
      for (const key of ['stop_reason', 'matched_stop']) {
        const { stop_reason, stop_sequence } = of({ [key]: 'END' })
        assert.deepEqual([stop_reason, stop_sequence], ['stop_sequence', 'END'])
        assert.equal(of({ [key]: 151_645 })['stop_reason'], 'end_turn')
      }
    })

    it('with the text of a refusal', () => {
      assert.deepEqual(wholeOf(messages, completionOf({ refusal: 'no' }))['content'], [
        { type: 'text', text: 'no' },
      ])
    })
  })

  describe('counts tokens', () => {
    const cached = { prompt_tokens: 2100, completion_tokens: 30, total_tokens: 2130 }
    const read = (cached_tokens: number, more: JsonObject = {}) => ({
      ...cached,
      prompt_tokens_details: { cached_tokens, ...more },
    })
    for (const [name, usage, [input, written, cacheRead, output]] of [
      ['without the cache', read(1920), [180, 0, 1920, 30]],
      ['without what the cache got', read(1920, { cache_write_tokens: 100 }), [80, 100, 1920, 30]],
      ['by the names of DeepSeek', { ...cached, prompt_cache_hit_tokens: 1920 }, [180, 0, 1920, 30]],
      ['never below 0', read(2100, { cache_write_tokens: 2100 }), [0, 2100, 2100, 30]],
      ['as 0 if they are no numbers', { prompt_tokens: 'x', completion_tokens: -1 }, [0, 0, 0, 0]],
    ] as const)
      it(name, () => {
        const expected = {
          input_tokens: input,
          cache_creation_input_tokens: written,
          cache_read_input_tokens: cacheRead,
          output_tokens: output,
        }
        assert.deepEqual(
          wholeOf(messages, completionOf({ content: 'a' }, 'stop', { usage }))['usage'],
          expected,
        )
        for (const chunks of [
          [chunkOf({ content: 'a' }), ended('stop'), usageChunk(usage)],
          [chunkOf({ content: 'a' }), { ...ended('stop'), usage }],
          [{ ...chunkOf({ content: 'a' }), usage }, ended('stop'), { choices: [], usage: null }],
        ])
          assert.deepEqual(eventsOf(messages, chunks).at(-2)!.value['usage'], expected)
      })

    it('of thinking', () => {
      const usage = {
        prompt_tokens: 120,
        completion_tokens: 90,
        completion_tokens_details: { reasoning_tokens: 64 },
      }
      assert.deepEqual(wholeOf(messages, completionOf({ content: 'a' }, 'stop', { usage }))['usage'], {
        input_tokens: 120,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 90,
        output_tokens_details: { thinking_tokens: 64 },
      })
    })
  })

  describe('has as input of a tool call', () => {
    const inputOf = (given: Json): string =>
      jsonText(
        (
          wholeOf(
            messages,
            completionOf({ tool_calls: [{ id: 'a', function: { name: 'b', arguments: given } }] }),
          )['content'] as readonly JsonObject[]
        )[0]!['input']!,
      )
    const deep = `${'['.repeat(300)}${']'.repeat(300)}`
    for (const [name, given, input] of [
      [
        'its arguments with all digits',
        '{"id":12345678901234567890,"x":1.0}',
        '{"id":12345678901234567890,"x":1.0}',
      ],
      [
        'its arguments that are an object',
        parseJson('{"id":12345678901234567890}'),
        '{"id":12345678901234567890}',
      ],
      ['nothing for no arguments', '', '{}'],
      ['nothing for null', null, '{}'],
      ['text that is no JSON apart', '{"a":', '{"invalid_json":"{\\"a\\":"}'],
      ['a list apart', '[1]', '{"invalid_json":"[1]"}'],
      ['what is nested too deeply apart', `{"a":${deep}}`, `{"invalid_json":"{\\"a\\":${deep}}"}`],
    ] as const)
      it(name, () => assert.equal(inputOf(given), input))
  })
})
