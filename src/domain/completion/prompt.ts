import { utf8Bytes } from '../codec/text.js'
import { isJsonObject, type Json, type JsonObject } from '../json/json.js'
import { tokensIn } from './usage.js'

/** What of a request no model reads: whom it is for, and how it is to be answered. */
const UNREAD = new Set([
  'model',
  'stream_options',
  'metadata',
  'logit_bias',
  'stop',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
  'modalities',
])

/** What is attached to a message instead of being written in it: the least that it is taken for, in tokens. */
const LEAST_ATTACHED = 4096

interface Kind {
  /** The member that holds the content: as base64, or, where it is an address, as a URL of data. */
  readonly member: 'url' | 'data' | 'file_data'
  /** How many characters of it are taken for a token; pictures are as large whatever they weigh. */
  readonly charactersOfAToken: number
}

/** By the type of the part of a message. */
const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['image_url', { member: 'url', charactersOfAToken: Infinity }],
  ['audio_url', { member: 'url', charactersOfAToken: 64 }],
  ['video_url', { member: 'url', charactersOfAToken: 64 }],
  ['input_audio', { member: 'data', charactersOfAToken: 64 }],
  ['file', { member: 'file_data', charactersOfAToken: 4 }],
])

/**
 * The tokens that a request's prompt is taken for: one for each four bytes of all that a model may read of it, messages,
 * tools, formats and whatever else the upstream knows; what is attached counts by its kind.
 */
export const promptTokensOf = (given: JsonObject): number => {
  const attached = attachedTo(given['messages'])
  const bytes = Object.entries(given).reduce(
    (sum, [key, value]) => (UNREAD.has(key) ? sum : sum + readBytes(value)),
    0,
  )
  return attached.reduce(
    (sum, { tokens }) => sum + tokens,
    tokensIn(attached.reduce((left, { characters }) => left - characters, bytes)),
  )
}

const readBytes = (value: Json): number =>
  typeof value === 'object' || typeof value === 'string' ? utf8Bytes(JSON.stringify(value)) : 0

interface Attached {
  /** Of its text, which is none of the prompt's. */
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
      const tokens = Math.max(LEAST_ATTACHED, Math.ceil(characters / kind.charactersOfAToken))
      attached.push({ characters, tokens })
    }
  return attached
}

const listIn = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : []

/** How many characters of what is attached are the content itself; none of what lies elsewhere. */
const inlineIn = (attached: Json | undefined, member: Kind['member']): number => {
  const content = isJsonObject(attached) ? attached[member] : attached
  if (typeof content !== 'string') return 0
  return member !== 'url' || /^data:/i.test(content) ? content.length : 0
}
