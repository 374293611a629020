import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { RequestText } from './request-text.js'
import { tokensIn } from './usage.js'

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
  /** The field with the content: base64, or a URL, which may be a data URL. */
  readonly member: 'url' | 'data' | 'file_data'
  /** Characters per token. Pictures cost the same whatever their size in bytes. */
  readonly charactersPerToken: number
}

/** By the type of the message part. */
const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['image_url', { member: 'url', charactersPerToken: Infinity }],
  ['audio_url', { member: 'url', charactersPerToken: 64 }],
  ['video_url', { member: 'url', charactersPerToken: 64 }],
  ['input_audio', { member: 'data', charactersPerToken: 64 }],
  ['file', { member: 'file_data', charactersPerToken: 4 }],
])

/**
 * Estimates the prompt tokens of a request: one per four bytes of everything that may reach the model (messages,
 * tools, formats, unknown fields); attachments by their kind.
 */
export const promptTokensOf = (given: JsonObject, text = new RequestText(given)): number => {
  const attached = attachedTo(given['messages'])
  const bytes = Object.entries(given).reduce(
    (sum, [key, value]) =>
      NOT_IN_PROMPT.has(key) || (typeof value !== 'object' && typeof value !== 'string')
        ? sum
        : sum + text.bytesOf(key),
    0,
  )
  return attached.reduce(
    (sum, { tokens }) => sum + tokens,
    tokensIn(attached.reduce((left, { characters }) => left - characters, bytes)),
  )
}

interface Attached {
  /** Characters of attachments, which are not counted as text. */
  readonly characters: number
  readonly tokens: number
}

const attachedTo = (messages: Json | undefined): readonly Attached[] => {
  const attached: Attached[] = []
  for (const message of listIn(messages))
    for (const part of listIn(isJsonObject(message) ? message['content'] : undefined)) {
      if (!isJsonObject(part) || typeof part['type'] !== 'string') continue
      const kind = KINDS.get(part['type'])
      if (kind === undefined) continue
      const characters = inlineIn(part[part['type']], kind.member)
      const tokens = Math.max(MIN_ATTACHMENT_TOKENS, Math.ceil(characters / kind.charactersPerToken))
      attached.push({ characters, tokens })
    }
  return attached
}

const listIn = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : []

/** Characters of inline content; 0 for a URL to fetch. */
const inlineIn = (attached: Json | undefined, member: Kind['member']): number => {
  const content = isJsonObject(attached) ? attached[member] : attached
  if (typeof content !== 'string') return 0
  return member !== 'url' || /^data:/i.test(content) ? content.length : 0
}
