import { STATUS } from '../../application/failure-status.js'
import { maxCompletionTokens } from '../../domain/gateway/limits/max-tokens.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { deeperThan, MAX_DEPTH } from '../../kernel/json/measure.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonText } from '../../kernel/json/text.js'
import { anthropicErrorOf } from './errors.js'
import type { TranslatedEvent } from '../translation/translation.js'
import { eventText, type Endpoint } from './endpoint.js'
import { eventAnswer, HOLDS_HEAD_MS, type EventApi, type EventMeaning } from './event-answer.js'

/** The member of a block that grows, by the type of the delta. */
const DELTAS: Readonly<Record<string, string>> = {
  text_delta: 'text',
  input_json_delta: 'partial_json',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
}

const blockPiece = ({ index }: JsonObject, members: JsonObject): JsonObject => ({
  content: [{ index: index ?? 0, ...members }],
})

const meaningOfDelta = (value: JsonObject): EventMeaning => {
  const delta = isJsonObject(value['delta']) ? value['delta'] : {}
  const type = typeof delta['type'] === 'string' ? delta['type'] : ''
  if (type === 'citations_delta')
    return { kind: 'part', piece: blockPiece(value, { citations: [delta['citation'] ?? null] }) }
  const member = (Object.hasOwn(DELTAS, type) ? DELTAS[type] : undefined) ?? ''
  const text = delta[member]
  if (typeof text !== 'string') return { kind: 'part' }
  const piece = blockPiece(value, { [member]: text })
  return type === 'signature_delta' ? { kind: 'part', piece } : { kind: 'part', piece, written: text }
}

const meaningOf = (type: string, value: JsonObject): EventMeaning => {
  const { content_block: block, delta, usage } = value
  switch (type) {
    case 'message_start':
      return { kind: 'head', frame: 'message' }
    case 'content_block_start':
      return { kind: 'head', piece: isJsonObject(block) ? blockPiece(value, block) : undefined }
    case 'content_block_delta':
      return meaningOfDelta(value)
    case 'content_block_stop':
      return { kind: 'part' }
    case 'message_delta': {
      const { content: _, ...end } = isJsonObject(delta) ? delta : {}
      return { kind: 'part', piece: { ...end, ...(isJsonObject(usage) ? { last_usage: [usage] } : {}) } }
    }
    case 'message_stop':
      return { kind: 'end' }
    case 'error':
      return { kind: 'error' }
    default:
      return { kind: 'head' }
  }
}

/** The arguments of a tool come in pieces of JSON; none at all mean no arguments. */
const wholeBlock = (block: Json): Json => {
  if (!isJsonObject(block) || !('partial_json' in block)) return block
  const { partial_json: text, ...rest } = block
  if (text === '') return rest
  try {
    const input = parseJson(typeof text === 'string' ? text : '')
    return deeperThan(input, MAX_DEPTH) ? block : { ...rest, input }
  } catch {
    return block
  }
}

const assembled = (frame: JsonObject, pieces: JsonObject): JsonObject => {
  const { last_usage: reports, content, ...members } = pieces
  const last = Array.isArray(reports) ? (reports as readonly JsonObject[]).at(-1) : undefined
  const usage = { ...(frame['usage'] as JsonObject | undefined), ...last }
  const blocks = Array.isArray(content) ? (content as readonly Json[]).map(wholeBlock) : []
  return { ...frame, ...members, content: blocks, usage }
}

/** A block without the texts that its deltas bring, and those deltas. */
const piecesOfBlock = (block: JsonObject): readonly [start: JsonObject, deltas: readonly JsonObject[]] => {
  const { text, thinking, signature, input } = block
  switch (block['type']) {
    case 'text':
      return [{ ...block, text: '' }, [{ type: 'text_delta', text: text ?? '' }]]
    case 'thinking':
      return [
        { ...block, thinking: '', signature: '' },
        [
          { type: 'thinking_delta', thinking: thinking ?? '' },
          { type: 'signature_delta', signature: signature ?? '' },
        ],
      ]
    case 'tool_use':
    case 'server_tool_use':
      return [{ ...block, input: {} }, [{ type: 'input_json_delta', partial_json: jsonText(input ?? {}) }]]
    default:
      return [block, []]
  }
}

/** The events of a whole message, in the order that clients rely on. */
export const messageEvents = (message: JsonObject): readonly TranslatedEvent[] => {
  const usage = isJsonObject(message['usage']) ? message['usage'] : {}
  const { stop_reason = null, stop_sequence = null } = message
  const content = Array.isArray(message['content']) ? (message['content'] as readonly Json[]) : []
  const begun = { ...message, content: [], stop_reason: null, stop_sequence: null }
  const events: (JsonObject & { readonly type: string })[] = [
    { type: 'message_start', message: { ...begun, usage: { ...usage, output_tokens: 0 } } },
  ]
  for (const [index, block] of content.filter(isJsonObject).entries()) {
    const [start, deltas] = piecesOfBlock(block)
    events.push({ type: 'content_block_start', index, content_block: start })
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta })
    events.push({ type: 'content_block_stop', index })
  }
  events.push(
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage },
    { type: 'message_stop' },
  )
  return events.map((value) => ({ event: value.type, value }))
}

const api: EventApi = {
  list: 'content',
  meaningOf,
  isWhole: ({ content, type }) => type !== 'error' && Array.isArray(content),
  eventsOf: messageEvents,
  assembled,
  lastEvent: 'message_stop',
  failed: (failure, { requestId }) =>
    eventText(jsonText(anthropicErrorOf(failure, STATUS[failure.kind], requestId)), 'error'),
}

/** Anthropic's Messages. */
export const messages: Endpoint = {
  api: 'messages',
  opName: 'anthropic.messages.create',
  path: 'messages',
  form: 'anthropic',
  asksForUsage: false,
  holdsHeadMs: HOLDS_HEAD_MS,
  mostTokens: (given) => maxCompletionTokens(given, 1),
  changes: () => ({}),
  answer: (options) => eventAnswer(api, options),
  failed: (failure, options) => api.failed(failure, options, { frame: {}, sequence: -1 }),
}
