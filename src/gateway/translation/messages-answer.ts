import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import { deeperThan, MAX_DEPTH } from '../../kernel/json/measure.js'
import { parseJson } from '../../kernel/json/parse.js'
import { pricedParts } from '../answer/usage.js'
import { ChatBlocks, type Block, type ReportedUsage, type Step } from './chat-blocks.js'
import { textPart } from './chat-request.js'
import { translatedEvent, type Translation } from './translation.js'

export const messagesAnswer: Translation['answer'] = ({ given, id }) => {
  const blocks = new ChatBlocks(id)
  let hasStarted = false
  const message = (members: JsonObject): JsonObject => ({
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model: given['model'] ?? '',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usageOf(undefined),
    ...members,
  })
  const started = (steps: readonly Step[]) => {
    const isFirst = !hasStarted
    hasStarted = true
    return [
      ...(isFirst ? [translatedEvent('message_start', { message: message({}) })] : []),
      ...steps.map(eventOf),
    ]
  }
  return {
    chunk: (chunk) => started(blocks.take(chunk)),
    end: () => [
      ...started(blocks.end()),
      translatedEvent('message_delta', { delta: stopOf(blocks, given), usage: usageOf(blocks.usage) }),
      translatedEvent('message_stop', {}),
    ],
    whole: (completion) => {
      const read = new ChatBlocks(id)
      const steps = [...read.take(completion), ...read.end()]
      const content = steps
        .filter(({ type }) => type === 'close')
        .map(({ block, text }) => contentOf(block, text))
      return message({ content, ...stopOf(read, given), usage: usageOf(read.usage) })
    },
    held: () => blocks.held,
  }
}

const eventOf = ({ type, block, text }: Step) => {
  const { index } = block
  switch (type) {
    case 'open':
      return translatedEvent('content_block_start', { index, content_block: contentOf(block, '') })
    case 'add':
      return translatedEvent('content_block_delta', { index, delta: deltaOf(block, text) })
    case 'close':
      return translatedEvent('content_block_stop', { index })
  }
}

/** The signature is the provider's. It is empty, and the block is dropped when the client sends it again. */
const contentOf = ({ kind, id, name }: Block, text: string): JsonObject => {
  if (kind === 'reasoning') return { type: 'thinking', thinking: text, signature: '' }
  return kind === 'call' ? { type: 'tool_use', id, name, input: inputOf(text) } : textPart(text)
}

const deltaOf = ({ kind }: Block, text: string): JsonObject => {
  if (kind === 'reasoning') return { type: 'thinking_delta', thinking: text }
  return kind === 'call' ? { type: 'input_json_delta', partial_json: text } : { type: 'text_delta', text }
}

/** The input of a tool call is an object, whatever the model wrote. */
const inputOf = (text: string): JsonObject => {
  if (text.trim() === '') return {}
  try {
    const value = parseJson(text)
    if (isJsonObject(value) && !deeperThan(value, MAX_DEPTH)) return value
  } catch {
    // Too many wide numbers, or no JSON: most often it was cut at the maximum length.
  }
  return { invalid_json: text }
}

const stopOf = (blocks: ChatBlocks, { stop_sequences }: JsonObject): JsonObject => {
  const { incomplete, hasRefusal, hasCalls, stopText } = blocks
  const stopped =
    Array.isArray(stop_sequences) && stop_sequences.includes(stopText ?? null) ? (stopText ?? null) : null
  const isRefused = incomplete === 'filter' || hasRefusal
  const reason = hasCalls ? 'tool_use' : stopped !== null ? 'stop_sequence' : 'end_turn'
  const stop_reason = incomplete === 'length' ? 'max_tokens' : isRefused ? 'refusal' : reason
  return { stop_reason, stop_sequence: stop_reason === 'stop_sequence' ? stopped : null }
}

/** Tokens of the cache are no input tokens in this API. */
const usageOf = (usage: ReportedUsage | undefined): JsonObject => {
  const { prompt_tokens = 0, completion_tokens = 0, reasoning_tokens = 0 } = usage ?? {}
  const { cache_read_input_tokens = 0, cache_creation_input_tokens = 0 } = usage ?? {}
  return {
    ...(usage === undefined ? {} : pricedParts(usage)),
    input_tokens: Math.max(0, prompt_tokens - cache_read_input_tokens - cache_creation_input_tokens),
    cache_creation_input_tokens,
    cache_read_input_tokens,
    output_tokens: completion_tokens,
    ...(reasoning_tokens > 0 ? { output_tokens_details: { thinking_tokens: reasoning_tokens } } : {}),
  }
}
