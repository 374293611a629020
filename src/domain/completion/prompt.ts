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

/** Bytes of its text for each token of what is attached, by the type of the part; pictures are as large whatever they weigh. */
const BYTES_OF_A_TOKEN: ReadonlyMap<Json | undefined, number> = new Map([
  ['image_url', Infinity],
  ['input_audio', 64],
  ['audio_url', 64],
  ['video_url', 64],
  ['file', 4],
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
      if (!isJsonObject(part)) continue
      const bytesOfAToken = BYTES_OF_A_TOKEN.get(part['type'])
      if (bytesOfAToken === undefined) continue
      const characters = inlineIn(part[String(part['type'])])
      attached.push({ characters, tokens: Math.max(LEAST_ATTACHED, Math.ceil(characters / bytesOfAToken)) })
    }
  return attached
}

const listIn = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : []

/** How many characters of a part are the content itself: its base64, or the URL that holds it. */
const inlineIn = (part: Json | undefined): number => {
  const { url, data, file_data }: Partial<JsonObject> = isJsonObject(part) ? part : { url: part ?? null }
  return [isDataUrl(url) ? url : undefined, data, file_data].reduce<number>(
    (sum, text) => (typeof text === 'string' ? sum + text.length : sum),
    0,
  )
}

const isDataUrl = (url: Json | undefined): boolean => typeof url === 'string' && /^data:/i.test(url)
