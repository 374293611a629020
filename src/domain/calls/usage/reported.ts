import type * as t from 'io-ts'
import { completedBy } from '../../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../../kernel/codec/containers.js'
import { integerBetween, oneOf, string } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { isJsonObject, type Json, type JsonObject } from '../../../kernel/json/json.js'
import { LARGEST_EXACT } from '../../prices/exact.js'
import { clamp, figureOf } from './figure.js'
import { readingOf, type Reading } from './reading.js'
import { searchesIn } from './searches.js'
import { EXTRA_UNITS, forEach } from '../../prices/units.js'
import { serviceTierOf } from './unpriced-members.js'
import {
  EXTRAS,
  SERVICE_TIERS,
  sizeOf,
  variantKey,
  type Extra,
  type ServiceTier,
} from '../../prices/variant.js'

/** The figures of a model's usage, in storage order. */
export const FIGURES = [
  'requests',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation_1h_input_tokens',
  ...EXTRAS,
  'reported_cost',
  'unrecognized_usage',
  'cache_hits',
  'saved_tokens',
  'saved_cost',
] as const

export type Figure = (typeof FIGURES)[number]

const whole = integerBetween(-LARGEST_EXACT, LARGEST_EXACT)
const figure = withDefault(whole, 0)

const anyModelUsage = open('ModelUsage', {
  required: { model: string },
  optional: {
    requests: figure,
    prompt_tokens: figure,
    completion_tokens: figure,
    total_tokens: figure,
    cache_read_input_tokens: figure,
    cache_creation_input_tokens: figure,
    /** Those of `cache_creation_input_tokens` that are kept for an hour. */
    cache_creation_1h_input_tokens: figure,
    /** Those of `prompt_tokens` and `completion_tokens`. */
    prompt_audio_tokens: figure,
    completion_audio_tokens: figure,
    ...forEach(EXTRA_UNITS, () => figure),
    /** The cost that the provider reported, in units of 10^-9. */
    reported_cost: figure,
    /** 1 if some of the report was not understood, besides its tier of service and extras. */
    unrecognized_usage: figure,
    /** 1 for an answer of the gateway's cache. */
    cache_hits: figure,
    /** What the answer that it repeats used and, in units of 10^-12, cost. */
    saved_tokens: figure,
    saved_cost: figure,
    service_tier: nullable(oneOf(...SERVICE_TIERS)),
    /** Only in events of earlier releases. */
    input_tokens: figure,
    output_tokens: figure,
  },
})

/** What was read of a report of one model. The prompt includes cached tokens. */
export type ModelUsage = { readonly model: string; readonly service_tier?: ServiceTier } & Readonly<
  Record<Figure, number>
>

/** The name of the model with the tier of service and extras, as usage is stored before it is known what a call used itself. */
export const tierKey = (used: ModelUsage): string => keyOf(used, 0)

/** The key of usage by which its price is found. */
export const chargedKey = (used: ModelUsage): string => keyOf(used, sizeOf(used))

const keyOf = (used: ModelUsage, above: number): string => {
  const { model, service_tier: tier = null, unrecognized_usage } = used
  const extras = extrasOf(used)
  const isVariant = tier !== null || extras.length > 0
  return variantKey(model, { above, tier, extras, isUnrecognized: isVariant && unrecognized_usage > 0 })
}

export const extrasOf = (used: ModelUsage): readonly Extra[] => EXTRAS.filter((extra) => used[extra] > 0)

/** The total of a model; its prompt and completion where none was reported. */
export const totalTokens = ({
  total_tokens,
  prompt_tokens,
  completion_tokens,
}: Pick<ModelUsage, 'total_tokens' | 'prompt_tokens' | 'completion_tokens'>): number =>
  total_tokens === 0 ? prompt_tokens + completion_tokens : total_tokens

/** Events of earlier releases keep the two names of a figure apart. */
const modelUsage = completedBy(
  anyModelUsage,
  ({ input_tokens, output_tokens, prompt_tokens, completion_tokens, service_tier, ...usage }) => ({
    ...usage,
    ...(service_tier === null ? {} : { service_tier }),
    prompt_tokens: clamp(prompt_tokens + input_tokens),
    completion_tokens: clamp(completion_tokens + output_tokens),
  }),
)

/** The usage reported by a call's end, read once so that no reader parses the summary again. */
export const reportedUsage = open('ReportedUsage', {
  required: { models: arrayOf(modelUsage) },
  optional: {
    /** The sum of `summary.status_counts`; null without status counts. */
    status_total: nullable(whole),
    /** The provider's id of the response, where a span of OpenTelemetry has it. */
    response_id: nullable(string),
  },
})

export type ReportedUsage = t.TypeOf<typeof reportedUsage>

/** What else is known of a report. */
interface ReportContext {
  /** Of the call. Integrations keep the report of the provider in it. */
  readonly output?: Json | undefined
  /** Whether the input is known to be without the cache. */
  readonly excludesCache?: boolean
}

export const modelUsageOf = (model: string, report: JsonObject, includesCache = false): ModelUsage =>
  usageOf(model, readingOf(report, { includesCache }))

const usageOf = (model: string, reading: Reading): ModelUsage => ({
  model,
  requests: reading.requests,
  prompt_tokens: clamp(reading.prompt ?? 0),
  completion_tokens: clamp(reading.completion ?? 0),
  total_tokens: clamp(reading.total),
  cache_read_input_tokens: reading.cacheRead,
  cache_creation_input_tokens: clamp(reading.cacheCreation),
  cache_creation_1h_input_tokens: reading.cacheCreation1h,
  ...reading.extras,
  reported_cost: reading.cost,
  unrecognized_usage: Number(reading.isUnrecognized),
  cache_hits: reading.cacheHits,
  saved_tokens: reading.savedTokens,
  saved_cost: reading.savedCost,
  ...(reading.serviceTier === undefined ? {} : { service_tier: reading.serviceTier }),
})

/** Reads `summary.usage` and `summary.status_counts`; values of an unexpected shape count as nothing. */
export const reportedUsageOf = (
  summary: JsonObject,
  { output = null, excludesCache = false }: ReportContext = {},
): ReportedUsage => {
  const { usage, status_counts: counts } = summary
  const hasStatusCounts = isJsonObject(counts)
  const entries = isJsonObject(usage) ? Object.entries(usage) : []
  const provided = entries.length === 1 ? providersReport(output) : undefined
  return {
    models: entries.map(([model, given]) => {
      const entry = isJsonObject(given) ? given : {}
      const reading = readingOf(entry, { includesCache: hasStatusCounts && !excludesCache })
      return usageOf(model, provided === undefined ? reading : withProviders(reading, entry, provided))
    }),
    status_total: hasStatusCounts
      ? clamp(Object.values(counts).reduce<number>((sum, count) => sum + figureOf(count), 0))
      : null,
    response_id: null,
  }
}

interface ProvidersReport {
  readonly usage: JsonObject
  /** OpenAI names it in the response, not in the usage. */
  readonly serviceTier: ServiceTier | undefined
  /** OpenAI does not count them in the usage. */
  readonly searches: number
}

/** The report of the provider in an output: that of its response, or of the message that LangChain makes of it. */
const providersReport = (output: Json): ProvidersReport | undefined => {
  const message = ['outputs', 'generations', 0, 0, 'message', 'kwargs', 'response_metadata'].reduce(
    memberOf,
    output,
  )
  for (const holder of [output, message]) {
    const usage = memberOf(holder, 'usage')
    const service_tier = memberOf(holder, 'service_tier')
    const searches = searchesIn(memberOf(holder, 'output'))
    if (isJsonObject(usage)) return { usage, serviceTier: serviceTierOf({ service_tier }), searches }
  }
  return undefined
}

const memberOf = (holder: Json, key: string | number): Json =>
  isJsonObject(holder) || Array.isArray(holder)
    ? ((holder as Readonly<Record<string | number, Json | undefined>>)[key] ?? null)
    : null

/**
 * An entry that passes on the report of the provider means the same. Where an integration read it and the totals are the
 * same, the cache is that of which more is known.
 */
const withProviders = (
  stated: Reading,
  entry: JsonObject,
  { usage: report, serviceTier: ofResponse, searches }: ProvidersReport,
): Reading => {
  // The output of an answer of the cache has the usage of the answer that it repeats.
  if (stated.cacheHits > 0) return stated
  const provided = readingOf(report)
  const isEqual = stated.prompt === provided.prompt && stated.completion === provided.completion
  const isSame =
    typeof entry['input_tokens'] === 'number' && INPUTS.every((name) => entry[name] === report[name])
  if (!isSame && !isEqual) return stated
  const serviceTier = stated.serviceTier ?? provided.serviceTier ?? ofResponse
  const web_search_requests = Math.max(
    stated.extras.web_search_requests,
    provided.extras.web_search_requests,
    searches,
  )
  const reading = { ...stated, serviceTier, extras: { ...stated.extras, web_search_requests } }
  if (isSame && cachedIn(provided) > 0) return { ...reading, prompt: provided.prompt, total: provided.total }
  if (!isEqual || cachedIn(provided) < cachedIn(reading)) return reading
  const { cacheRead, cacheCreation } = provided
  const cacheCreation1h = Math.max(reading.cacheCreation1h, provided.cacheCreation1h)
  return { ...reading, cacheRead, cacheCreation, cacheCreation1h }
}

const INPUTS = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens']

const cachedIn = ({ cacheRead, cacheCreation }: Reading): number => cacheRead + cacheCreation
