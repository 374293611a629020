import { Failure } from '../../application/failure.js'
import { STATUS } from '../../application/failure-status.js'
import { maxCompletionTokens } from '../../domain/gateway/limits/max-tokens.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import { openAiErrorOf } from './errors.js'
import type { TranslatedEvent } from '../translation/translation.js'
import { eventText, type Endpoint } from './endpoint.js'
import { eventAnswer, HOLDS_HEAD_MS, type EventApi, type EventMeaning } from './event-answer.js'

/** Where the pieces of an item stand, by the type of their event. */
const DELTAS: Readonly<Record<string, readonly [list: 'content' | 'summary' | null, member: string]>> = {
  'response.output_text.delta': ['content', 'text'],
  'response.refusal.delta': ['content', 'refusal'],
  'response.reasoning_text.delta': ['content', 'text'],
  'response.reasoning_summary_text.delta': ['summary', 'text'],
  'response.function_call_arguments.delta': [null, 'arguments'],
  'response.mcp_call_arguments.delta': [null, 'arguments'],
  'response.custom_tool_call_input.delta': [null, 'input'],
  'response.code_interpreter_call_code.delta': [null, 'code'],
}

/** What comes before there is content. */
const HEADS = new Set([
  'response.output_item.added',
  'response.content_part.added',
  'response.reasoning_summary_part.added',
])

const FRAMES = new Set(['response.created', 'response.queued', 'response.in_progress'])
const ENDS = new Set(['response.completed', 'response.incomplete'])

const numberIn = (value: JsonObject, name: string): number => {
  const number = value[name]
  return typeof number === 'number' ? number : 0
}

const pieceOf = (type: string, value: JsonObject): JsonObject | undefined => {
  const within = (members: JsonObject) => ({
    output: [{ index: numberIn(value, 'output_index'), ...members }],
  })
  const { item, part, delta } = value
  if (type === 'response.output_item.added' && isJsonObject(item)) return within(item)
  const list = type.startsWith('response.reasoning_summary') ? 'summary' : 'content'
  const at = { index: numberIn(value, list === 'summary' ? 'summary_index' : 'content_index') }
  if (HEADS.has(type) && isJsonObject(part)) return within({ [list]: [{ ...at, ...part }] })
  const place = Object.hasOwn(DELTAS, type) ? DELTAS[type] : undefined
  if (place === undefined || typeof delta !== 'string') return undefined
  const [holder, member] = place
  return within(holder === null ? { [member]: delta } : { [holder]: [{ ...at, [member]: delta }] })
}

const meaningOf = (type: string, value: JsonObject): EventMeaning => {
  if (FRAMES.has(type)) return { kind: 'head', frame: 'response' }
  if (ENDS.has(type)) return { kind: isJsonObject(value['response']) ? 'end' : 'head', frame: 'response' }
  if (type === 'error') return { kind: 'error' }
  if (type === 'response.failed') return { kind: 'error', error: errorIn(value) }
  const { item, delta } = value
  if (type === 'response.output_item.done' && item !== undefined)
    return { kind: 'part', item: { at: numberIn(value, 'output_index'), value: item } }
  const piece = pieceOf(type, value)
  if (HEADS.has(type)) return { kind: 'head', piece }
  if (type.endsWith('.delta') && typeof delta === 'string') return { kind: 'part', piece, written: delta }
  return { kind: /\.done$|_call\./.test(type) ? 'part' : 'head' }
}

const errorIn = ({ response }: JsonObject): Json =>
  isJsonObject(response) ? { error: response['error'] ?? 'the response failed' } : 'the response failed'

/** Texts that a stream sends in pieces, which the first event of an item has empty. */
const emptied = (item: JsonObject): JsonObject => {
  const { type } = item
  if (type === 'message') return { ...item, status: 'in_progress', content: [] }
  if (type === 'reasoning') return { ...item, summary: [] }
  if (type === 'function_call') return { ...item, status: 'in_progress', arguments: '' }
  return type === 'custom_tool_call' ? { ...item, status: 'in_progress', input: '' } : item
}

const listIn = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : []

type Event = readonly [type: string, members: JsonObject]

const eventsOfItem = (item: JsonObject, output_index: number): readonly Event[] => {
  const at = { item_id: item['id'] ?? '', output_index }
  const ofParts = (list: 'content' | 'summary', index: string, prefix: string): Event[] =>
    listIn(item[list]).flatMap((part, place): Event[] => {
      const here = { ...at, [index]: place }
      const member = part['type'] === 'refusal' ? 'refusal' : 'text'
      const name =
        list === 'summary' ? `${prefix}_text` : part['type'] === 'refusal' ? 'refusal' : 'output_text'
      const text = part[member] ?? ''
      return [
        [`response.${prefix}_part.added`, { ...here, part: { ...part, [member]: '' } }],
        [`response.${name}.delta`, { ...here, delta: text }],
        [`response.${name}.done`, { ...here, [member]: text }],
        [`response.${prefix}_part.done`, { ...here, part }],
      ]
    })
  const called = (name: string, member: string): Event[] => [
    [`response.${name}.delta`, { ...at, delta: item[member] ?? '' }],
    [`response.${name}.done`, { ...at, name: item['name'] ?? '', [member]: item[member] ?? '' }],
  ]
  const { type } = item
  return [
    ['response.output_item.added', { output_index, item: emptied(item) }],
    ...(type === 'message' ? ofParts('content', 'content_index', 'content') : []),
    ...(type === 'reasoning' ? ofParts('summary', 'summary_index', 'reasoning_summary') : []),
    ...(type === 'function_call' ? called('function_call_arguments', 'arguments') : []),
    ...(type === 'custom_tool_call' ? called('custom_tool_call_input', 'input') : []),
    ['response.output_item.done', { output_index, item }],
  ]
}

/** The events of a whole response, in the order that clients rely on. */
export const responseEvents = (response: JsonObject): readonly TranslatedEvent[] => {
  const begun = { ...response, status: 'in_progress', completed_at: null, output: [], usage: null }
  const last = response['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed'
  const events: readonly Event[] = [
    ['response.created', { response: begun }],
    ['response.in_progress', { response: begun }],
    ...listIn(response['output']).flatMap(eventsOfItem),
    [last, { response }],
  ]
  return events.map(([type, members], sequence_number) => ({
    event: type,
    value: { type, ...members, sequence_number },
  }))
}

const api: EventApi = {
  list: 'output',
  meaningOf,
  isWhole: ({ output, status, error }) =>
    Array.isArray(output) && status !== 'failed' && (error === null || error === undefined),
  eventsOf: responseEvents,
  assembled: (frame, pieces) => ({ ...frame, ...pieces, status: 'incomplete' }),
  lastEvent: 'response.completed',
  // Some clients show the message of one of these events, and some of the other.
  failed: (failure, { callId, model }, { frame, sequence }) => {
    const { message, code, type, param } = openAiErrorOf(failure, STATUS[failure.kind])['error'] as JsonObject
    const error = { code: code ?? type ?? 'server_error', message: message ?? '' }
    const response = {
      id: `resp_${callId}`,
      object: 'response',
      created_at: 0,
      output: [],
      usage: null,
      ...frame,
      model,
      status: 'failed',
      error,
    }
    const events: readonly (JsonObject & { readonly type: string })[] = [
      { type: 'error', ...error, param: param ?? null, sequence_number: sequence + 1 },
      { type: 'response.failed', response, sequence_number: sequence + 2 },
    ]
    return events.map((event) => eventText(jsonText(event), event.type)).join('')
  },
}

/** @throws Failure for what needs answers that were kept */
export const refuseState = (given: JsonObject): void => {
  for (const [param, code] of STATEFUL) {
    const value = given[param]
    if (value === undefined || value === null || value === false) continue
    const reason = `${param} is not supported: the gateway keeps no responses. Send the whole conversation in input.`
    throw new Failure('bad-request', reason, { param, code })
  }
}

const STATEFUL = [
  ['previous_response_id', 'previous_response_not_found'],
  ['conversation', 'unsupported_parameter'],
  ['background', 'unsupported_parameter'],
] as const

/** OpenAI's Responses. An answer is not kept at the provider either where the content of calls is not recorded. */
export const responses: Endpoint = {
  api: 'responses',
  opName: 'openai.responses.create',
  path: 'responses',
  form: 'openai',
  asksForUsage: false,
  holdsHeadMs: HOLDS_HEAD_MS,
  mostTokens: (given) => maxCompletionTokens(given, 1),
  changes: (_given, { recordsContent }) => (recordsContent ? {} : { store: 'false' }),
  answer: (options) => eventAnswer(api, options),
  failed: (failure, options) => api.failed(failure, options, { frame: {}, sequence: -1 }),
}
