import { utf8Bytes } from '../../kernel/codec/text.js'
import { readingOf } from '../../domain/usage/reading.js'
import { costOf } from '../../domain/gateway/limits/charge.js'
import type { ModelPrice } from '../../domain/gateway/upstreams/content.js'
import { decimalText } from '../../domain/prices/decimal.js'
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
  /** The part of them that is cached for an hour. */
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
 * A report of usage, read as all others of the service; null if it lacks tokens of prompt or completion. A total beyond
 * prompt and completion has the reasoning that some upstreams report nowhere else.
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

/** The maximum of each figure. Some upstreams report the prompt first and the completion last, or end with zeros. */
export const greatest = (before: Usage | null, next: Usage | null): Usage | null => {
  if (before === null || next === null) return next ?? before
  const most = (figure: keyof Usage): number => Math.max(before[figure], next[figure])
  return {
    prompt_tokens: most('prompt_tokens'),
    completion_tokens: most('completion_tokens'),
    total_tokens: most('prompt_tokens') + most('completion_tokens'),
    cache_read_input_tokens: most('cache_read_input_tokens'),
    cache_creation_input_tokens: most('cache_creation_input_tokens'),
    cache_creation_1h_input_tokens: most('cache_creation_1h_input_tokens'),
    reported_cost: most('reported_cost'),
  }
}

/** A report of zeros for a response with content is ignored. */
export const isCredible = ({ prompt_tokens, completion_tokens }: Usage, contentBytes: number): boolean =>
  prompt_tokens > 0 && (completion_tokens > 0 || contentBytes === 0)

const BYTES_PER_TOKEN = 4

export const tokensIn = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN)

const NO_USAGE: Omit<Usage, 'prompt_tokens' | 'completion_tokens' | 'total_tokens'> = {
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_creation_1h_input_tokens: 0,
  reported_cost: 0,
}

/** Used without a final report: figures of the last intermediate report, or else a token for each four bytes. */
export const estimated = (
  promptTokens: number,
  contentBytes: number,
  soFar: Usage | null = null,
): Metered => {
  const prompt_tokens = soFar?.prompt_tokens || promptTokens
  const completion_tokens = soFar?.completion_tokens || tokensIn(contentBytes)
  const total_tokens = prompt_tokens + completion_tokens
  return {
    metering: 'estimated',
    usage: { ...NO_USAGE, ...soFar, prompt_tokens, completion_tokens, total_tokens },
  }
}

/** Bytes that the model generated in a message or delta: texts, and names and arguments of tool calls. */
export const writtenBytes = (message: JsonObject): number =>
  Object.entries(message).reduce(
    (sum, [key, value]) => (NOT_GENERATED.has(key) ? sum : sum + bytesOf(value)),
    0,
  )

const NOT_GENERATED = new Set(['role', 'id', 'type', 'index'])

const bytesOf = (value: Json): number => {
  if (typeof value === 'string') return utf8Bytes(value)
  if (Array.isArray(value)) return value.reduce<number>((sum, item: Json) => sum + bytesOf(item), 0)
  return isJsonObject(value) ? writtenBytes(value) : 0
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

/** The exact cost that budgets are charged. Undefined for unknown usage, and without a price or a reported cost. */
export const costText = (price: ModelPrice | null, usage: Usage | null): string | undefined =>
  usage === null || (price === null && usage.reported_cost === 0)
    ? undefined
    : decimalText(costOf(price, usage))
