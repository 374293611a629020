import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { utf8Bytes } from '../../kernel/codec/text.js'
import { RequestText } from './request-text.js'
import { tokensIn, type PromptTokens } from './usage.js'

/** Request fields that do not reach the model. */
const NOT_IN_PROMPT: ReadonlySet<string> = new Set(
  (
    'model stream_options metadata logit_bias stop user safety_identifier prompt_cache_key service_tier ' +
    'modalities'
  ).split(' '),
)

/** Minimum estimate for an attachment, in tokens. */
const MIN_ATTACHMENT_TOKENS = 4096

interface Kind {
  /** The member of the part that has the content; the part itself where it is absent. */
  readonly holder?: string
  /** The field with the content: base64, or a URL, which may be a data URL. */
  readonly member: 'url' | 'image_url' | 'data' | 'file_data'
  /** Characters per token. Pictures cost the same whatever their size in bytes. */
  readonly charactersPerToken: number
}

/** By the type of the message part, in all APIs. */
const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['image_url', { holder: 'image_url', member: 'url', charactersPerToken: Infinity }],
  ['audio_url', { holder: 'audio_url', member: 'url', charactersPerToken: 64 }],
  ['video_url', { holder: 'video_url', member: 'url', charactersPerToken: 64 }],
  ['input_audio', { holder: 'input_audio', member: 'data', charactersPerToken: 64 }],
  ['file', { holder: 'file', member: 'file_data', charactersPerToken: 4 }],
  ['input_image', { member: 'image_url', charactersPerToken: Infinity }],
  ['input_file', { member: 'file_data', charactersPerToken: 4 }],
  ['image', { holder: 'source', member: 'data', charactersPerToken: Infinity }],
  ['document', { holder: 'source', member: 'data', charactersPerToken: 4 }],
])

/**
 * Estimates the prompt tokens of a request: one per four bytes of everything that may reach the model (messages,
 * tools, formats, unknown fields); attachments by their kind.
 */
export const promptTokensOf = (given: JsonObject, text = new RequestText(given)): PromptTokens => {
  const attached = [...attachedTo(given['messages']), ...attachedTo(given['input'])]
  let [bytes, most, tokens] = [0, 0, 0]
  for (const [key, value] of Object.entries(given)) {
    if (NOT_IN_PROMPT.has(key) || (typeof value !== 'object' && typeof value !== 'string')) continue
    const known = tokensAsNumbers(value)
    if (known !== undefined) {
      tokens += known
      continue
    }
    bytes += text.bytesOf(key)
    most += mostTokensIn(text.members[key] ?? '')
  }
  for (const one of attached) {
    bytes -= one.content.length
    most -= mostTokensIn(one.content)
    tokens += one.tokens
  }
  return { estimate: tokensIn(bytes) + tokens, most: Math.max(tokensIn(bytes), most) + tokens }
}

/** Two neighbouring letters or spaces of ASCII are one token, every other byte may be a token. */
export const mostTokensIn = (text: string): number => {
  let pairs = 0
  let isHalf = false
  for (let at = 0; at < text.length; at += 1) {
    const lower = text.charCodeAt(at) | 0x20
    const isLetter = (lower >= 0x61 && lower <= 0x7a) || lower === 0x20
    if (isLetter && isHalf) pairs += 1
    isHalf = isLetter && !isHalf
  }
  return utf8Bytes(text) - pairs
}

interface Attached {
  /** The inline content, which is not counted as text. */
  readonly content: string
  readonly tokens: number
}

/** The number of tokens of a prompt that is given as tokens; undefined for any other. */
const tokensAsNumbers = (value: Json): number | undefined => {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const lists = value.every((one) => Array.isArray(one)) ? (value as readonly (readonly Json[])[]) : [value]
  return lists.every((list) => list.every((one: Json) => typeof one === 'number'))
    ? lists.reduce((sum, { length }) => sum + length, 0)
    : undefined
}

const attachedTo = (messages: Json | undefined): readonly Attached[] => {
  const attached: Attached[] = []
  for (const message of listIn(messages))
    if (isJsonObject(message)) for (const part of partsOf(message)) attached.push(...attachedIn(part))
  return attached
}

/** Results of tools may have parts of their own. */
const partsOf = (holder: JsonObject): readonly Json[] => listIn(holder['content'] ?? holder['output'])

const attachedIn = (part: Json): readonly Attached[] => {
  if (!isJsonObject(part) || typeof part['type'] !== 'string') return []
  if (part['type'] === 'tool_result') return partsOf(part).flatMap(attachedInResult)
  const kind = KINDS.get(part['type'])
  if (kind === undefined) return []
  const content = inlineIn(kind.holder === undefined ? part : part[kind.holder], kind.member)
  const tokens = Math.max(MIN_ATTACHMENT_TOKENS, Math.ceil(content.length / kind.charactersPerToken))
  return [{ content, tokens }]
}

const attachedInResult = (part: Json): readonly Attached[] =>
  isJsonObject(part) && part['type'] === 'tool_result' ? [] : attachedIn(part)

const listIn = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : []

/** Inline content; empty for a URL to fetch. */
const inlineIn = (attached: Json | undefined, member: Kind['member']): string => {
  const content = isJsonObject(attached) ? attached[member] : attached
  if (typeof content !== 'string') return ''
  return !member.endsWith('url') || /^data:/i.test(content) ? content : ''
}
