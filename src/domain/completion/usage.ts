import { figureOf } from '../call/usage.js'
import { isJsonObject, type Json, type JsonObject } from '../json/json.js'

/** Where the figures of a request come from; `unknown` has none at all. */
export type Metering = 'reported' | 'estimated' | 'unknown'

/** Tokens of one request. */
export interface Usage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly cache_read_input_tokens: number
}

export interface Metered {
  readonly metering: Metering
  /** Null where it is unknown, never 0. */
  readonly usage: Usage | null
}

export const unknown: Metered = { metering: 'unknown', usage: null }

/** The usage that an upstream reports; null for anything that is none, as for figures below zero. */
export const reportedIn = (value: Json | undefined): Usage | null => {
  if (!isJsonObject(value)) return null
  const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details: details } = value
  if (!isCount(prompt_tokens) || !isCount(completion_tokens)) return null
  const [prompt, completion] = [figureOf(prompt_tokens), figureOf(completion_tokens)]
  const cached = isJsonObject(details) ? figureOf(details['cached_tokens']) : 0
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: isCount(total_tokens) ? figureOf(total_tokens) : prompt + completion,
    cache_read_input_tokens: Math.min(Math.max(0, cached), prompt),
  }
}

const isCount = (value: Json | undefined): value is number =>
  typeof value === 'number' && value >= 0 && Number.isFinite(value)

const BYTES_OF_A_TOKEN = 4

export const tokensIn = (bytes: number): number => Math.ceil(bytes / BYTES_OF_A_TOKEN)

/**
 * What a request may have used whose last figures never came: by those that came before, and what these do not count, by
 * its prompt and the bytes of what came back.
 */
export const estimated = (
  promptTokens: number,
  contentBytes: number,
  soFar: Usage | null = null,
): Metered => {
  const prompt_tokens = soFar?.prompt_tokens || promptTokens
  const completion_tokens = soFar?.completion_tokens || tokensIn(contentBytes)
  return {
    metering: 'estimated',
    usage: {
      prompt_tokens,
      completion_tokens,
      total_tokens: Math.max(soFar?.total_tokens ?? 0, prompt_tokens + completion_tokens),
      cache_read_input_tokens: soFar?.cache_read_input_tokens ?? 0,
    },
  }
}

/** The entry of `summary.usage` under the public id of the model. */
export const summaryUsage = (model: string, usage: Usage | null): JsonObject =>
  usage === null ? {} : { usage: { [model]: { requests: 1, ...usage } } }
