import { readingOf } from '../../domain/usage/reading.js'
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
  /** Those of them that are kept for an hour. */
  readonly cache_creation_1h_input_tokens: number
  /** The cost that the upstream reported, in units of 10^-9. */
  readonly reported_cost: number
}

export interface Metered {
  readonly metering: Metering
  /** Null if unknown, never 0. */
  readonly usage: Usage | null
}

export const unknown: Metered = { metering: 'unknown', usage: null }

/**
 * The usage reported by an upstream, by the rule of all reports; null if it lacks a figure or has an invalid one. A total
 * beyond prompt and completion has the reasoning that some upstreams report nowhere else.
 */
export const reportedIn = (value: Json | undefined): Usage | null => {
  if (!isJsonObject(value)) return null
  const reading = readingOf(value)
  const { prompt, completion } = reading
  if (prompt === undefined || completion === undefined) return null
  const total = reading.total < Number.MAX_SAFE_INTEGER ? reading.total : 0
  const completion_tokens = Math.max(completion, total - prompt)
  return {
    prompt_tokens: prompt,
    completion_tokens,
    total_tokens: prompt + completion_tokens,
    cache_read_input_tokens: reading.cacheRead,
    cache_creation_input_tokens: reading.cacheCreation,
    cache_creation_1h_input_tokens: reading.cacheCreation1h,
    reported_cost: reading.cost,
  }
}

/** The greatest report of a response or chunk: its own, one of its choices, or one in another member. */
export const usageIn = (value: JsonObject, choices: readonly JsonObject[]): Usage | null =>
  [value, ...Object.values(value), ...choices.flatMap(withMessages)]
    .filter(isJsonObject)
    .flatMap(({ usage, usageMetadata, usage_metadata }) => [usage, usageMetadata, usage_metadata])
    .map(reportedIn)
    .reduce(greatest, null)

const withMessages = (choice: JsonObject): readonly Json[] => [
  choice,
  choice['delta'] ?? null,
  choice['message'] ?? null,
]

/** Some upstreams report the prompt first and the completion last, or end with zeros. */
export const greatest = (before: Usage | null, next: Usage | null): Usage | null => {
  if (before === null || next === null) return next ?? before
  const prompt_tokens = Math.max(before.prompt_tokens, next.prompt_tokens)
  const completion_tokens = Math.max(before.completion_tokens, next.completion_tokens)
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    cache_read_input_tokens: Math.max(before.cache_read_input_tokens, next.cache_read_input_tokens),
    cache_creation_input_tokens: Math.max(
      before.cache_creation_input_tokens,
      next.cache_creation_input_tokens,
    ),
    cache_creation_1h_input_tokens: Math.max(
      before.cache_creation_1h_input_tokens,
      next.cache_creation_1h_input_tokens,
    ),
    reported_cost: Math.max(before.reported_cost, next.reported_cost),
  }
}

/** Zeros are no report of a response that has content. */
export const isCredible = ({ prompt_tokens, completion_tokens }: Usage, contentBytes: number): boolean =>
  prompt_tokens > 0 && (completion_tokens > 0 || contentBytes === 0)

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
      total_tokens: prompt_tokens + completion_tokens,
      cache_read_input_tokens: soFar?.cache_read_input_tokens ?? 0,
      cache_creation_input_tokens: soFar?.cache_creation_input_tokens ?? 0,
      cache_creation_1h_input_tokens: soFar?.cache_creation_1h_input_tokens ?? 0,
      reported_cost: soFar?.reported_cost ?? 0,
    },
  }
}

/** The entry of `summary.usage`, under the public id of the model. */
export const summaryUsage = (model: string, usage: Usage | null): JsonObject => {
  if (usage === null) return {}
  const { cache_creation_1h_input_tokens: hour, reported_cost, ...figures } = usage
  const entry = {
    requests: 1,
    ...figures,
    ...(hour === 0 ? {} : { cache_creation: { ephemeral_1h_input_tokens: hour } }),
    ...(reported_cost === 0 ? {} : { cost: reported_cost / 1e9 }),
  }
  return { usage: { [model]: entry } }
}
