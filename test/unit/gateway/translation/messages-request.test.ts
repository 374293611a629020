import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { messages } from '../../../../src/gateway/translation/messages.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import { jsonText } from '../../../../src/kernel/json/text.js'
import { chatRequest, refusedPlace } from './translated.js'

const HELLO = [{ role: 'user', content: 'hi' }]

const translated = (members: JsonObject, mayDrop = false) =>
  chatRequest(messages, { model: 'm', max_tokens: 9, messages: HELLO, ...members }, mayDrop)

const member = (key: string, members: JsonObject): Json | undefined => translated(members).given[key]

const messagesOf = (...given: readonly JsonObject[]): Json | undefined =>
  member('messages', { messages: given })

const refused = (members: JsonObject): string | undefined =>
  refusedPlace(messages, { model: 'm', max_tokens: 9, messages: HELLO, ...members })

const text = (value: string) => ({ type: 'text', text: value })
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }
const chatImage = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }
const use = (id: string, input: JsonObject = {}) => ({ type: 'tool_use', id, name: 'get', input })
const call = (id: string, given = '{}') => ({
  id,
  type: 'function',
  function: { name: 'get', arguments: given },
})
const result = (id: string, content: Json, more: JsonObject = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
})

describe('a request to the messages API, as a chat completion', () => {
  it('has the fields that both know', () => {
    const given = { stream: true, temperature: 0.5, top_p: 0.9, stop_sequences: ['a', 'b'] }
    assert.deepEqual(translated(given), {
      given: {
        model: 'm',
        messages: HELLO,
        stream: true,
        temperature: 0.5,
        top_p: 0.9,
        max_completion_tokens: 9,
        stop: ['a', 'b'],
      },
      dropped: [],
    })
  })

  it('keeps the digits of numbers', () => {
    const input = '{"id":12345678901234567890}'
    const given = parseJson(
      `{"model":"m","max_tokens":9,"temperature":1.0,"messages":[{"role":"assistant","content":[
        {"type":"tool_use","id":"a","name":"get","input":${input}}]}],
        "tools":[{"name":"get","input_schema":{"const":12345678901234567890}}]}`,
    ) as JsonObject
    const chat = jsonText(chatRequest(messages, given).given)
    assert(chat.includes(JSON.stringify(input)))
    assert(chat.includes('"const":12345678901234567890'))
    assert(chat.includes('"temperature":1.0'))
  })

  describe('of text and files', () => {
    const cases: readonly (readonly [string, readonly JsonObject[], Json])[] = [
      [
        'joins texts of a user',
        [{ role: 'user', content: [text('a'), text('b')] }],
        [{ role: 'user', content: 'a\n\nb' }],
      ],
      [
        'merges turns of one role',
        [
          { role: 'user', content: 'a' },
          { role: 'user', content: [image] },
        ],
        [{ role: 'user', content: [text('a'), chatImage] }],
      ],
      [
        'leaves out turns without content',
        [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: [] },
          { role: 'user', content: [text('')] },
        ],
        [{ role: 'user', content: 'a' }],
      ],
      [
        'takes an image by URL',
        [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://x/y.png' } }] }],
        [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x/y.png' } }] }],
      ],
      [
        'takes a PDF as a file',
        [
          {
            role: 'user',
            content: [
              {
                type: 'document',
                title: 'a.pdf',
                context: 'c',
                source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' },
              },
            ],
          },
        ],
        [
          {
            role: 'user',
            content: [
              text('c'),
              { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' } },
            ],
          },
        ],
      ],
      [
        'takes documents of text, of blocks and of a search as text',
        [
          {
            role: 'user',
            content: [
              { type: 'document', title: 't', source: { type: 'text', media_type: 'text/plain', data: 'd' } },
              { type: 'document', source: { type: 'content', content: [text('e')] } },
              { type: 'search_result', title: 'f', source: 'g', content: [text('h')] },
            ],
          },
        ],
        [{ role: 'user', content: 't\n\nd\n\ne\n\nf\n\ng\n\nh' }],
      ],
      [
        'keeps a message of the role system in its place',
        [...HELLO, { role: 'system', content: 'be brief' }],
        [...HELLO, { role: 'system', content: 'be brief' }],
      ],
    ]
    for (const [behaviour, given, chat] of cases)
      it(behaviour, () => assert.deepEqual(messagesOf(...given), chat))

    it('starts with the system prompt, without the line that names the client', () => {
      const given = { system: [text('x-anthropic-billing-header: cc_version=1;'), text('a'), text('b')] }
      const { given: chat, dropped } = translated(given)
      assert.deepEqual(chat['messages'], [{ role: 'system', content: 'a\n\nb' }, ...HELLO])
      assert.deepEqual(dropped, ['system.0'])
      assert.deepEqual(member('messages', { system: 'a' }), [{ role: 'system', content: 'a' }, ...HELLO])
    })
  })

  describe('of tools', () => {
    const schema = { type: 'object', properties: {} }
    const tool = { name: 'get', description: 'd', input_schema: schema, cache_control: { type: 'ephemeral' } }
    const chatTool = { type: 'function', function: { name: 'get', description: 'd', parameters: schema } }

    it('names functions', () => {
      const tools = [tool, { ...tool, type: 'custom', strict: true }]
      assert.deepEqual(member('tools', { tools }), [
        chatTool,
        { type: 'function', function: { ...chatTool.function, strict: true } },
      ])
    })

    for (const [choice, chat] of [
      ['auto', 'auto'],
      ['any', 'required'],
      ['none', 'none'],
      ['tool', { type: 'function', function: { name: 'get' } }],
    ] as const)
      it(`takes the choice ${choice}`, () => {
        const tool_choice = { type: choice, name: 'get', disable_parallel_tool_use: true }
        const { given } = translated({ tools: [tool], tool_choice })
        assert.deepEqual(given['tool_choice'], chat)
        assert.equal(given['parallel_tool_calls'], false)
      })

    it('leaves out the choice when there are no tools', () => {
      assert.deepEqual(translated({ tools: [], tool_choice: { type: 'auto' } }).given, translated({}).given)
    })

    it('places results before the rest of the message, and their images after all of them', () => {
      assert.deepEqual(
        messagesOf(
          { role: 'assistant', content: [text('look'), use('a', { x: 1 }), use('b')] },
          {
            role: 'user',
            content: [
              text('and?'),
              result('a', [text('one'), image]),
              result('b', 'two'),
              result('c', [image]),
            ],
          },
        ),
        [
          { role: 'assistant', content: 'look', tool_calls: [call('a', '{"x":1}'), call('b')] },
          { role: 'tool', content: 'one', tool_call_id: 'a' },
          { role: 'tool', content: 'two', tool_call_id: 'b' },
          { role: 'tool', content: 'The result is in the next message.', tool_call_id: 'c' },
          { role: 'user', content: [chatImage, chatImage, text('and?')] },
        ],
      )
    })

    it('places images of the last results at the end, and before an answer', () => {
      const turn = { role: 'user', content: [result('a', [text('one'), image])] }
      const chat = [
        { role: 'tool', content: 'one', tool_call_id: 'a' },
        { role: 'user', content: [chatImage] },
      ]
      assert.deepEqual(messagesOf(turn), chat)
      assert.deepEqual(messagesOf(turn, { role: 'assistant', content: 'b' }), [
        ...chat,
        { role: 'assistant', content: 'b' },
      ])
    })

    it('says that a result is an error', () => {
      const turn = (content: Json) => ({ role: 'user', content: [result('a', content, { is_error: true })] })
      assert.deepEqual(messagesOf(turn('gone')), [
        { role: 'tool', content: 'Error:\ngone', tool_call_id: 'a' },
      ])
      assert.deepEqual(messagesOf(turn([])), [{ role: 'tool', content: 'Error:', tool_call_id: 'a' }])
    })

    it('has null for the content of a message that has only calls', () => {
      assert.deepEqual(messagesOf({ role: 'assistant', content: [use('a')] }), [
        { role: 'assistant', content: null, tool_calls: [call('a')] },
      ])
    })
  })

  describe('of thinking and formats', () => {
    for (const [name, members, effort] of [
      [
        'adaptive thinking with an effort',
        { thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } },
        'medium',
      ],
      ['adaptive thinking alone', { thinking: { type: 'adaptive' } }, undefined],
      ['the greatest effort', { output_config: { effort: 'max' } }, 'high'],
      ['a small budget', { thinking: { type: 'enabled', budget_tokens: 1024 } }, 'low'],
      ['a medium budget', { thinking: { type: 'enabled', budget_tokens: 10_000 } }, 'medium'],
      ['a large budget', { thinking: { type: 'enabled', budget_tokens: 32_000 } }, 'high'],
      ['disabled thinking', { thinking: { type: 'disabled' }, output_config: { effort: 'high' } }, undefined],
    ] as const)
      it(`takes ${name}`, () => assert.equal(member('reasoning_effort', members), effort))

    it('never sends thinking of the history as text', () => {
      const content = [
        { type: 'thinking', thinking: 'secret', signature: 'x' },
        { type: 'redacted_thinking', data: 'secret' },
        text('seen'),
      ]
      const { given, dropped } = translated({ messages: [{ role: 'assistant', content }] })
      assert.deepEqual(given['messages'], [{ role: 'assistant', content: 'seen' }])
      assert.deepEqual(dropped, ['messages.0.content.0', 'messages.0.content.1'])
    })

    it('takes a JSON schema for the answer', () => {
      const schema = { type: 'object' }
      const format = { type: 'json_schema', schema }
      const chat = { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } }
      assert.deepEqual(member('response_format', { output_config: { format } }), chat)
      assert.deepEqual(member('response_format', { output_format: format }), chat)
    })
  })

  it('has the id of the user, hashed if it is long', () => {
    const long = JSON.stringify({ device_id: 'd'.repeat(64), session_id: 's' })
    assert.equal(member('user', { metadata: { user_id: 'u' } }), 'u')
    assert.equal(
      member('user', { metadata: { user_id: long } }),
      createHash('sha256').update(long).digest('hex'),
    )
    assert.equal(member('user', { metadata: {} }), undefined)
  })

  it('names the fields that it leaves out', () => {
    const { given, dropped } = translated({
      cache_control: { type: 'ephemeral' },
      context_management: { edits: [] },
      service_tier: 'auto',
      output_config: { task_budget: {} },
      future: 1,
    })
    assert.deepEqual(given, translated({}).given)
    assert.deepEqual(dropped, ['context_management', 'service_tier', 'future', 'output_config.task_budget'])
  })

  describe('refuses what a chat completion cannot express, unless it may be dropped:', () => {
    const user = (...content: readonly Json[]) => ({ messages: [...HELLO, { role: 'user', content }] })
    const hosted = [
      { name: 'a', input_schema: {} },
      { type: 'web_search_20250305', name: 'web_search' },
    ]
    for (const [place, members] of [
      ['tools.1', { tools: hosted }],
      ['top_k', { top_k: 4 }],
      ['container', { container: 'c' }],
      ['mcp_servers', { mcp_servers: [{}] }],
      ['output_config.format', { output_config: { format: { type: 'xml' } } }],
      ['messages.1.content.0', user({ type: 'web_search_tool_result' })],
      ['messages.1.content.0', user({ type: 'container_upload' })],
      ['messages.1.content.0.source', user({ type: 'image', source: { type: 'file', file_id: 'f' } })],
      ['messages.1.content.0.source', user({ type: 'document', source: { type: 'url', url: 'https://x' } })],
      [
        'messages.1.content.0.citations',
        user({ type: 'document', citations: { enabled: true }, source: { type: 'text', data: 'd' } }),
      ],
      ['messages.1.content.0.content.0', user(result('a', [{ type: 'tool_reference' }]))],
      ['messages.0.content.0', { messages: [{ role: 'assistant', content: [{ type: 'server_tool_use' }] }] }],
    ] as const)
      it(`${place} of ${JSON.stringify(members).slice(0, 60)}`, () => {
        assert.equal(refused(members), place)
        assert.deepEqual(translated(members, true).dropped, [place])
      })

    it('but not where it is unset', () => {
      assert.deepEqual(translated({ mcp_servers: [], container: null }).dropped, [])
    })
  })

  describe('names the place of a wrong', () => {
    const content = (...blocks: readonly Json[]) => ({ messages: [{ role: 'user', content: blocks }] })
    for (const [place, members] of [
      ['max_tokens', { max_tokens: null }],
      ['max_tokens', { max_tokens: 0 }],
      ['max_tokens', { max_tokens: 1.5 }],
      ['messages', { messages: null }],
      ['messages', { messages: [] }],
      ['messages', { messages: 'hi' }],
      ['messages.0', { messages: [1] }],
      ['messages.0.role', { messages: [{ role: 'tool', content: 'a' }] }],
      ['messages.0.content', { messages: [{ role: 'user', content: 1 }] }],
      ['messages.0.content', { messages: [{ role: 'user' }] }],
      ['messages.0.content.0', content(null)],
      ['messages.0.content.0.type', content({})],
      ['messages.0.content.0.text', content({ type: 'text', text: 1 })],
      ['messages.0.content.0.source', content({ type: 'image' })],
      [
        'messages.0.content.0.source.data',
        content({ type: 'image', source: { type: 'base64', media_type: 'a' } }),
      ],
      ['messages.0.content.0.tool_use_id', content(result(1 as never, 'a'))],
      [
        'messages.0.content.0.input',
        { messages: [{ role: 'assistant', content: [{ ...use('a'), input: '{}' }] }] },
      ],
      ['system', { system: 1 }],
      ['system.0', { system: ['a'] }],
      ['tools', { tools: {} }],
      ['tools.0.name', { tools: [{ input_schema: {} }] }],
      ['tools.0.input_schema', { tools: [{ name: 'a', input_schema: [] }] }],
      ['tool_choice', { tool_choice: 'auto' }],
      ['tool_choice.type', { tool_choice: { type: 'some' } }],
      ['tool_choice.name', { tool_choice: { type: 'tool' } }],
      ['stop_sequences.0', { stop_sequences: [1] }],
      ['stream', { stream: 'yes' }],
      ['temperature', { temperature: '1' }],
      ['thinking', { thinking: true }],
      ['output_config.effort', { output_config: { effort: 1 } }],
      ['output_config.format.schema', { output_config: { format: { type: 'json_schema' } } }],
    ] as const)
      it(`${place}: ${JSON.stringify(members).slice(0, 60)}`, () =>
        assert.equal(refused(members as JsonObject), place))
  })

  it('takes long histories', () => {
    const turns = Array.from({ length: 20_000 }, (_, at) => [
      { role: 'assistant', content: [{ type: 'thinking', thinking: 't' }, use(`a${at}`), use(`b${at}`)] },
      { role: 'user', content: [result(`a${at}`, [text('x'), image]), result(`b${at}`, 'y'), text('z')] },
    ])
    const { given, dropped } = translated({
      messages: [...turns.flat(), ...Array.from({ length: 20_000 }, () => HELLO[0]!)],
    })
    assert.equal((given['messages'] as readonly Json[]).length, 80_000)
    assert.equal(dropped.length, 100)
  })
})
