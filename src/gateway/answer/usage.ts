import { cacheFiguresOf, figureOf } from '../../domain/calls/usage.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'

/** Source of a request's usage figures; `unknown` has none. */
export type Metering = 'reported' | 'estimated' | 'unknown'

/** Token counts of one request. */
export interface Usage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  /** Prompt tokens read from a cache. */
  readonly cache_read_input_tokens: number
  /** Prompt tokens written to a cache. */
  readonly cache_creation_input_tokens: number
}

export interface Metered {
  readonly metering: Metering
  /** Null if unknown, never 0. */
  readonly usage: Usage | null
}

export const unknown: Metered = { metering: 'unknown', usage: null }

/**
 * The total of the prompt's tokens. Most upstreams include cached tokens, as the format requires. Some pass on a
 * provider's figures without cache writes or without all cached tokens, which shows when those exceed the prompt's.
 */
const wholePrompt = (prompt: number, read: number, creation: number): number => {
  if (read > prompt) return prompt + read + creation
  return read + creation > prompt ? prompt + creation : prompt
}

/** The usage reported by an upstream; null if it is invalid, such as a negative figure. */
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
 * Estimates the usage when no final figures came: from the last intermediate figures, and for what they do not cover
 * from the prompt and the bytes received.
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

/** The entry of `summary.usage`, under the public id of the model. */
export const summaryUsage = (model: string, usage: Usage | null): JsonObject =>
  usage === null ? {} : { usage: { [model]: { requests: 1, ...usage } } }
