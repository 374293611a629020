import assert from 'node:assert/strict'
import { responses } from '../../../../src/gateway/translation/responses.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import { jsonText } from '../../../../src/kernel/json/text.js'
import { callChunk, chunkOf, completionOf, ended, eventsOf, usageChunk, wholeOf } from './translated.js'

const MODEL = { model: 'm' }
const ARGUMENTS = '{"city":"Paris"}'

const text = (value: string) => ({ type: 'output_text', annotations: [], logprobs: [], text: value })
const message = (index: number, status: string, ...content: readonly JsonObject[]) => ({
  id: `msg_abc_${index}`,
  type: 'message',
  status,
  role: 'assistant',
  content,
})
const reasoning = (index: number, status: string, ...texts: readonly string[]) => ({
  id: `rs_abc_${index}`,
  type: 'reasoning',
  summary: texts.map((one) => ({ type: 'summary_text', text: one })),
  status,
})
const functionCall = (index: number, status: string, given: string, id = 0) => ({
  id: `fc_abc_${index}`,
  type: 'function_call',
  status,
  arguments: given,
  call_id: `call_${id}`,
  name: 'get',
})

/** The data of the events between those at the start and the last one, without sequence numbers. */
const dataOf = (chunks: readonly JsonObject[], given?: JsonObject): readonly JsonObject[] =>
  eventsOf(responses, chunks, given)
    .slice(2, -1)
    .map(({ value: { sequence_number: _, ...data } }) => data)

const responseOf = (chunks: readonly JsonObject[], given?: JsonObject): JsonObject =>
  eventsOf(responses, chunks, given).at(-1)!.value['response'] as JsonObject

describe('a chat completion as an answer of the responses API', () => {
  it('has the events of a text', () => {
    const chunks = [
      chunkOf({ role: 'assistant', content: '' }),
      chunkOf({ content: 'a' }),
      chunkOf({ content: 'b' }),
    ]
    const at = { item_id: 'msg_abc_0', output_index: 0, content_index: 0 }
    assert.deepEqual(dataOf([...chunks, ended('stop')]), [
      { type: 'response.output_item.added', output_index: 0, item: message(0, 'in_progress') },
      { type: 'response.content_part.added', ...at, part: text('') },
      { type: 'response.output_text.delta', ...at, delta: 'a', logprobs: [] },
      { type: 'response.output_text.delta', ...at, delta: 'b', logprobs: [] },
      { type: 'response.output_text.done', ...at, text: 'ab', logprobs: [] },
      { type: 'response.content_part.done', ...at, part: text('ab') },
      { type: 'response.output_item.done', output_index: 0, item: message(0, 'completed', text('ab')) },
    ])
  })

  it('has the events of reasoning', () => {
    const at = { item_id: 'rs_abc_0', output_index: 0, summary_index: 0 }
    const part = (value: string) => ({ type: 'summary_text', text: value })
    assert.deepEqual(dataOf([chunkOf({ reasoning_content: 'I ' }), chunkOf({ reasoning: 'think.' })]), [
      { type: 'response.output_item.added', output_index: 0, item: reasoning(0, 'in_progress') },
      { type: 'response.reasoning_summary_part.added', ...at, part: part('') },
      { type: 'response.reasoning_summary_text.delta', ...at, delta: 'I ' },
      { type: 'response.reasoning_summary_text.delta', ...at, delta: 'think.' },
      { type: 'response.reasoning_summary_text.done', ...at, text: 'I think.' },
      { type: 'response.reasoning_summary_part.done', ...at, part: part('I think.') },
      { type: 'response.output_item.done', output_index: 0, item: reasoning(0, 'completed', 'I think.') },
    ])
  })

  it('has the events of a refusal', () => {
    const at = { item_id: 'msg_abc_0', output_index: 0, content_index: 0 }
    const part = { type: 'refusal', refusal: 'no' }
    assert.deepEqual(dataOf([chunkOf({ refusal: 'no' })]), [
      { type: 'response.output_item.added', output_index: 0, item: message(0, 'in_progress') },
      { type: 'response.content_part.added', ...at, part: { type: 'refusal', refusal: '' } },
      { type: 'response.refusal.delta', ...at, delta: 'no' },
      { type: 'response.refusal.done', ...at, refusal: 'no' },
      { type: 'response.content_part.done', ...at, part },
      { type: 'response.output_item.done', output_index: 0, item: message(0, 'completed', part) },
    ])
  })

  it('has the events of function calls, one after another', () => {
    const chunks = [
      callChunk(0, '', 'get'),
      callChunk(0, ARGUMENTS.slice(0, 8)),
      callChunk(1, '{}', 'get'),
      callChunk(0, ARGUMENTS.slice(8)),
    ]
    const at = { item_id: 'fc_abc_0', output_index: 0 }
    const next = { item_id: 'fc_abc_1', output_index: 1 }
    const done = { type: 'response.function_call_arguments.done', name: 'get' }
    assert.deepEqual(dataOf([...chunks, ended('tool_calls')]), [
      { type: 'response.output_item.added', output_index: 0, item: functionCall(0, 'in_progress', '') },
      { type: 'response.function_call_arguments.delta', ...at, delta: ARGUMENTS.slice(0, 8) },
      { type: 'response.function_call_arguments.delta', ...at, delta: ARGUMENTS.slice(8) },
      { ...done, ...at, arguments: ARGUMENTS },
      { type: 'response.output_item.done', output_index: 0, item: functionCall(0, 'completed', ARGUMENTS) },
      { type: 'response.output_item.added', output_index: 1, item: functionCall(1, 'in_progress', '', 1) },
      { type: 'response.function_call_arguments.delta', ...next, delta: '{}' },
      { ...done, ...next, arguments: '{}' },
      { type: 'response.output_item.done', output_index: 1, item: functionCall(1, 'completed', '{}', 1) },
    ])
  })

  describe('of a custom tool', () => {
    const given = { ...MODEL, tools: [{ type: 'custom', name: 'get' }] }
    const call = (status: string, input: string) => ({
      id: 'fc_abc_0',
      type: 'custom_tool_call',
      status,
      call_id: 'call_0',
      name: 'get',
      input,
    })

    it('has the events of a custom tool call', () => {
      const at = { item_id: 'fc_abc_0', output_index: 0 }
      assert.deepEqual(dataOf([callChunk(0, '{"input":', 'get'), callChunk(0, '"echo \\"1\\""}')], given), [
        { type: 'response.output_item.added', output_index: 0, item: call('in_progress', '') },
        { type: 'response.custom_tool_call_input.delta', ...at, delta: 'echo "1"' },
        { type: 'response.custom_tool_call_input.done', ...at, input: 'echo "1"' },
        { type: 'response.output_item.done', output_index: 0, item: call('completed', 'echo "1"') },
      ])
    })

    for (const input of ['echo', '{"command":"echo"}', 'null', '{"input":1}', '{"input":"ec'])
      it(`has all arguments for ${input}`, () => {
        const completion = completionOf({
          tool_calls: [{ id: 'call_0', function: { name: 'get', arguments: input } }],
        })
        assert.deepEqual(wholeOf(responses, completion, given)['output'], [call('completed', input)])
      })
  })

  it('has the namespace of a tool', () => {
    const tools = [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'get' }] }]
    const chunks = [callChunk(0, '{}', 'n__get'), callChunk(1, '{}', 'n__put')]
    assert.deepEqual(responseOf(chunks, { ...MODEL, tools })['output'], [
      { ...functionCall(0, 'completed', '{}'), namespace: 'n' },
      { ...functionCall(1, 'completed', '{}', 1), name: 'n__put' },
    ])
  })

  it('numbers the events, and has one id in all', () => {
    const events = eventsOf(responses, [
      chunkOf({ reasoning: 'a' }),
      chunkOf({ content: 'b' }),
      callChunk(0, '{}', 'get'),
      ended('tool_calls'),
    ])
    assert.deepEqual(
      events.map(({ value }) => value['sequence_number']),
      events.map((_, at) => at),
    )
    assert.deepEqual(
      events.map(({ event }) => event),
      events.map(({ value }) => value['type']),
    )
    const responsesIn = events
      .map(({ value }) => value['response'] as JsonObject | undefined)
      .filter((response) => response !== undefined)
    assert.deepEqual(
      responsesIn.map(({ id, status }) => [id, status]),
      ['in_progress', 'in_progress', 'completed'].map((status) => ['resp_abc', status]),
    )
    assert.deepEqual(responsesIn[2]!['output'], [
      reasoning(0, 'completed', 'a'),
      message(1, 'completed', text('b')),
      functionCall(2, 'completed', '{}'),
    ])
  })

  it('repeats the request in the response', () => {
    const given = parseJson(
      '{"model":"m","instructions":"i","tools":[{"type":"web_search"}],"metadata":{"a":"b"},"temperature":1.0,"input":"hi"}',
    ) as JsonObject
    const chunks = [{ ...chunkOf({ content: 'a' }), service_tier: 'flex' }, ended('stop')]
    const expected = {
      instructions: 'i',
      max_output_tokens: null,
      metadata: { a: 'b' },
      model: 'm',
      parallel_tool_calls: true,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      temperature: 1,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [{ type: 'web_search' }],
      top_p: null,
      truncation: 'disabled',
      user: null,
      background: false,
      completed_at: null,
      max_tool_calls: null,
      previous_response_id: null,
      top_logprobs: 0,
      id: 'resp_abc',
      object: 'response',
      created_at: 1_700_000_000,
      status: 'completed',
      error: null,
      incomplete_details: null,
      output: [message(0, 'completed', text('a'))],
      service_tier: 'flex',
      store: false,
      usage: null,
    }
    assert.deepEqual(responseOf(chunks, given), expected)
    assert(jsonText(responseOf(chunks, given)).includes('"temperature":1.0'))
    const completion = completionOf({ content: 'a' }, 'stop', { service_tier: 'flex' })
    assert.deepEqual(wholeOf(responses, completion, given), expected)
  })

  for (const [reason, status, details] of [
    ['length', 'incomplete', { reason: 'max_output_tokens' }],
    ['content_filter', 'incomplete', { reason: 'content_filter' }],
    ['tool_calls', 'completed', null],
  ] as const)
    it(`is ${status} for ${reason}`, () => {
      const chunks = [chunkOf({ reasoning: 'a' }), callChunk(0, '{"ci', 'get'), ended(reason)]
      const response = responseOf(chunks)
      assert.deepEqual(response['incomplete_details'], details)
      assert.deepEqual(response['output'], [reasoning(0, 'completed', 'a'), functionCall(1, status, '{"ci')])
      assert.equal(eventsOf(responses, chunks).at(-1)!.event, `response.${status}`)
    })

  it('counts tokens of the cache and of reasoning within the others', () => {
    const usage = {
      prompt_tokens: 2100,
      completion_tokens: 30,
      total_tokens: 2130,
      prompt_tokens_details: { cached_tokens: 1920, cache_write_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 20 },
    }
    const expected = {
      input_tokens: 2100,
      input_tokens_details: { cached_tokens: 1920, cache_write_tokens: 100 },
      output_tokens: 30,
      output_tokens_details: { reasoning_tokens: 20 },
      total_tokens: 2130,
    }
    assert.deepEqual(wholeOf(responses, completionOf({ content: 'a' }, 'stop', { usage }))['usage'], expected)
    assert.deepEqual(responseOf([chunkOf({ content: 'a' }), usageChunk(usage)])['usage'], expected)
    assert.deepEqual(responseOf([{ ...chunkOf({ content: 'a' }), usage }, ended('stop')])['usage'], expected)
  })

  it('has no output for an empty answer', () => {
    assert.deepEqual(responseOf([ended('stop')])['output'], [])
    assert.deepEqual(wholeOf(responses, completionOf({ content: '' }))['output'], [])
  })
})
