import { cacheFiguresOf, figureOf } from '../call/usage.js'
import { isJsonObject, type Json, type JsonObject } from '../json/json.js'

/** Where the figures of a request come from; `unknown` has none at all. */
export type Metering = 'reported' | 'estimated' | 'unknown'

/** Tokens of one request. */
export interface Usage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  /** Of the prompt's, those that were read from a cache. */
  readonly cache_read_input_tokens: number
  /** Of the prompt's, those that were written to a cache. */
  readonly cache_creation_input_tokens: number
}

export interface Metered {
  readonly metering: Metering
  /** Null where it is unknown, never 0. */
  readonly usage: Usage | null
}

export const unknown: Metered = { metering: 'unknown', usage: null }

/**
 * All tokens of a prompt. Most upstreams count cached ones among its tokens, as the format says. Those that pass a
 * provider's own figures on leave out what was written to a cache, or all cached ones, which shows where these are more.
 */
const wholePrompt = (prompt: number, read: number, creation: number): number => {
  if (read > prompt) return prompt + read + creation
  return read + creation > prompt ? prompt + creation : prompt
}

/** The usage that an upstream reports; null for anything that is none, as for figures below zero. */
export const reportedIn = (value: Json | undefined): Usage | null => {
  if (!isJsonObject(value)) return null
  const { prompt_tokens, completion_tokens, total_tokens } = value
  if (!isCount(prompt_tokens) || !isCount(completion_tokens)) return null
  const cached = cacheFiguresOf(value)
  const read = Math.max(0, cached.cache_read_input_tokens)
  const creation = Math.max(0, cached.cache_creation_input_tokens)
  const reported = figureOf(prompt_tokens)
  const [prompt, completion] = [wholePrompt(reported, read, creation), figureOf(completion_tokens)]
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: isCount(total_tokens) && prompt === reported ? figureOf(total_tokens) : prompt + completion,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: creation,
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
      cache_creation_input_tokens: soFar?.cache_creation_input_tokens ?? 0,
    },
  }
}

/** The entry of `summary.usage` under the public id of the model. */
export const summaryUsage = (model: string, usage: Usage | null): JsonObject =>
  usage === null ? {} : { usage: { [model]: { requests: 1, ...usage } } }
