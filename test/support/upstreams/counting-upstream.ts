import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { startUpstream, type ScriptedUpstream } from './upstream.js'

/** Tokens of an answer, by what they cost. The last two are parts of the completion. */
const tokens = fc.record({
  fresh: fc.integer({ min: 1, max: 40_000 }),
  read: fc.nat(20_000),
  written: fc.nat(5_000),
  writtenForHour: fc.nat(5_000),
  text: fc.integer({ min: 1, max: 10_000 }),
  reasoning: fc.nat(10_000),
})
export type UsedTokens = typeof tokens extends fc.Arbitrary<infer A> ? A : never

export const promptOf = ({ fresh, read, written, writtenForHour }: UsedTokens): number =>
  fresh + read + written + writtenForHour
export const completionOf = ({ text, reasoning }: UsedTokens): number => text + reasoning

/** How the upstreams answer one request of a client. */
export const arbitraryTurn = fc.record({
  tokens,
  isPriority: fc.boolean(),
  stream: fc.boolean(),
  hasReasoning: fc.boolean(),
  hasCall: fc.boolean(),
  /** Attempts that fail before there is an answer. */
  faults: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.constantFrom('500', '529', 'error', 'cut'), { maxLength: 3 }) },
  ),
  /** What follows; only streams break. */
  end: fc.constantFrom('complete', 'complete', 'complete', 'cut', 'error', 'refused'),
})
export type Turn = typeof arbitraryTurn extends fc.Arbitrary<infer A> ? A : never

export const isBroken = ({ stream, end }: Turn): boolean => stream && (end === 'cut' || end === 'error')
export const isRefused = ({ end }: Turn): boolean => end === 'refused'

/** The text of a request by which the upstream knows the turn. */
export const promptText = (turn: number): string => `turn ${turn}.`

export const WORDS = ['one', ' two', ' three']
const ARGUMENTS = '{"city":"Berlin"}'
const THOUGHT = 'Count.'
const lifetimes = ({ written, writtenForHour }: UsedTokens) => ({
  cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: writtenForHour },
})

/** The events of an answer: before there is content, with content, and the end; and the whole answer. */
interface Script {
  readonly head: readonly JsonObject[]
  readonly content: readonly JsonObject[]
  readonly tail: readonly JsonObject[]
  readonly whole: JsonObject
  readonly error: JsonObject
}

const chatScript = (model: string, { tokens: used, isPriority, hasReasoning, hasCall }: Turn): Script => {
  const [prompt, completion] = [promptOf(used), completionOf(used)]
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: used.read,
      cache_write_tokens: used.written + used.writtenForHour,
    },
    completion_tokens_details: { reasoning_tokens: used.reasoning },
    ...lifetimes(used),
  }
  const members = { id: 'c', created: 1, model, service_tier: isPriority ? 'priority' : 'default' }
  const chunk = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
    ...members,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const called = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: ARGUMENTS } }
  const finish_reason = hasCall ? 'tool_calls' : 'stop'
  const message = {
    role: 'assistant',
    content: WORDS.join(''),
    ...(hasReasoning ? { reasoning_content: THOUGHT } : {}),
    ...(hasCall ? { tool_calls: [called] } : {}),
  }
  return {
    head: [chunk({ role: 'assistant' })],
    content: [
      ...(hasReasoning ? [chunk({ reasoning_content: THOUGHT })] : []),
      ...WORDS.map((content) => chunk({ content })),
      ...(hasCall ? [chunk({ tool_calls: [{ index: 0, ...called }] })] : []),
    ],
    tail: [chunk({}, finish_reason), { ...members, object: 'chat.completion.chunk', choices: [], usage }],
    whole: { ...members, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage },
    error: { error: { message: 'out of memory', type: 'server_error' } },
  }
}

const responsesScript = (
  model: string,
  { tokens: used, isPriority, hasReasoning, hasCall }: Turn,
): Script => {
  const usage = {
    input_tokens: promptOf(used),
    input_tokens_details: {
      cached_tokens: used.read,
      cache_write_tokens: used.written + used.writtenForHour,
    },
    output_tokens: completionOf(used),
    output_tokens_details: { reasoning_tokens: used.reasoning },
    total_tokens: promptOf(used) + completionOf(used),
    ...lifetimes(used),
  }
  const output: readonly JsonObject[] = [
    ...(hasReasoning
      ? [{ id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: THOUGHT }] }]
      : []),
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: WORDS.join(''), annotations: [] }],
    },
    ...(hasCall
      ? [{ id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'weather', arguments: ARGUMENTS }]
      : []),
  ]
  const whole: JsonObject = {
    ...{ id: 'resp_1', object: 'response', created_at: 1, model, status: 'completed', error: null, output },
    ...{ usage, service_tier: isPriority ? 'priority' : 'default' },
  }
  const begun = { ...whole, status: 'in_progress', output: [], usage: null, service_tier: 'auto' }
  const ofItem = (item: JsonObject, output_index: number): readonly JsonObject[] => [
    { type: 'response.output_item.added', output_index, item: { id: item['id']!, type: item['type']! } },
    ...(item['type'] === 'message'
      ? WORDS.map((delta) => ({
          ...{ type: 'response.output_text.delta', output_index, content_index: 0, delta },
        }))
      : []),
    ...(item['type'] === 'function_call'
      ? [{ type: 'response.function_call_arguments.delta', output_index, delta: ARGUMENTS }]
      : []),
    { type: 'response.output_item.done', output_index, item },
  ]
  return {
    head: [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
    ],
    content: output.flatMap(ofItem),
    tail: [{ type: 'response.completed', response: whole }],
    whole,
    error: {
      type: 'response.failed',
      response: { ...begun, status: 'failed', error: { code: 'server_error', message: 'out of memory' } },
    },
  }
}

const messagesScript = (model: string, { tokens: used, isPriority, hasReasoning, hasCall }: Turn): Script => {
  const usage = {
    input_tokens: used.fresh,
    cache_read_input_tokens: used.read,
    cache_creation_input_tokens: used.written + used.writtenForHour,
    ...lifetimes(used),
    service_tier: isPriority ? 'priority' : 'standard',
  }
  const last = {
    output_tokens: completionOf(used),
    output_tokens_details: { thinking_tokens: used.reasoning },
  }
  const blocks: readonly (readonly [block: JsonObject, empty: JsonObject, delta: JsonObject])[] = [
    ...(hasReasoning
      ? ([
          [
            { type: 'thinking', thinking: THOUGHT, signature: 'c2ln' },
            { type: 'thinking', thinking: '', signature: '' },
            { type: 'thinking_delta', thinking: THOUGHT },
          ],
        ] as const)
      : []),
    [
      { type: 'text', text: WORDS.join('') },
      { type: 'text', text: '' },
      { type: 'text_delta', text: WORDS.join('') },
    ],
    ...(hasCall
      ? ([
          [
            { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Berlin' } },
            { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
            { type: 'input_json_delta', partial_json: ARGUMENTS },
          ],
        ] as const)
      : []),
  ]
  const members = { id: 'msg_1', type: 'message', role: 'assistant', model, stop_sequence: null }
  const stop_reason = hasCall ? 'tool_use' : 'end_turn'
  return {
    head: [
      {
        type: 'message_start',
        message: { ...members, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
      },
      { type: 'ping' },
    ],
    content: blocks.flatMap(([, content_block, delta], index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ]),
    tail: [
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: last },
      { type: 'message_stop' },
    ],
    whole: { ...members, content: blocks.map(([block]) => block), stop_reason, usage: { ...usage, ...last } },
    error: { type: 'error', error: { type: 'overloaded_error', message: 'out of memory' } },
  }
}

/** By the address of the request. */
export const scriptOf = (url: string, model: string, turn: Turn): Script => {
  if (url.includes('/messages')) return messagesScript(model, turn)
  return (url.includes('/responses') ? responsesScript : chatScript)(model, turn)
}

export const eventText = (event: JsonObject, data = JSON.stringify(event)): string =>
  `${typeof event['type'] === 'string' ? `event: ${event['type']}\n` : ''}data: ${data}\n\n`

export interface CountingUpstream extends ScriptedUpstream {
  /** The turns that were answered to the end, with their model's name at the upstream. */
  readonly delivered: readonly { readonly model: string; readonly turn: Turn }[]
}

/** An upstream that answers in three APIs as the turns say, and counts what it delivered. */
export const startCountingUpstream = async (turns: readonly Turn[]): Promise<CountingUpstream> => {
  const delivered: { readonly model: string; readonly turn: Turn }[] = []
  const attempts = new Map<number, number>()
  const upstream = await startUpstream((body, response, { url = '' }) => {
    const place = Number([...JSON.stringify(body).matchAll(/turn (\d+)\./g)].at(-1)![1])
    const [turn, attempt, model] = [turns[place]!, attempts.get(place) ?? 0, body['model'] as string]
    attempts.set(place, attempt + 1)
    const script = scriptOf(url, model, turn)
    const fault = turn.faults[attempt]
    const isComplete = turn.end === 'complete' || (!turn.stream && turn.end !== 'refused')
    if (fault === '500' || fault === '529') {
      failed(response, Number(fault))
      return
    }
    if (fault === undefined && turn.end === 'refused') {
      failed(response, 400)
      return
    }
    if (fault === undefined && isComplete) response.once('finish', () => delivered.push({ model, turn }))
    body['stream'] === true
      ? streamed(response, script, fault, isComplete ? 'complete' : turn.end)
      : whole(response, script, fault)
  })
  return { ...upstream, delivered }
}

const failed = (response: ServerResponse, status: number): void => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end('{"type":"error","error":{"type":"scripted","message":"out of order"}}')
}

const whole = (response: ServerResponse, script: Script, fault: string | undefined): void => {
  response.writeHead(200, { 'content-type': 'application/json' })
  if (fault === 'cut') response.write('{"id":', () => response.destroy())
  else response.end(JSON.stringify(fault === 'error' ? script.error : script.whole))
}

const streamed = (
  response: ServerResponse,
  { head, content, tail, error }: Script,
  fault: string | undefined,
  end: string,
): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const ending = fault ?? end
  const events = fault === undefined ? [...head, ...content] : head
  for (const event of [
    ...events,
    ...(ending === 'complete' ? tail : []),
    ...(ending === 'error' ? [error] : []),
  ])
    response.write(eventText(event))
  if (ending === 'cut') setTimeout(() => response.destroy(), 10)
  else response.end()
}
