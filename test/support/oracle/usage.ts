import { FIGURES, modelUsageOf, type Figure } from '../../../src/domain/calls/usage/reported.js'
import { EXTRA_UNITS } from '../../../src/domain/prices/units.js'
import { EXTRAS } from '../../../src/domain/prices/variant.js'
import { clamped } from './figure.js'
import { isObject, property } from './json.js'
import type { AggregatedUsage, Json, JsonObject } from './operations.js'

/** The names that random reports have. */
export const RAW_KEYS = [
  'requests',
  'prompt_tokens',
  'input_tokens',
  'completion_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const

/** What the report of one model means. Reports are read by the rule of the service, which has a test of its own. */
export type RawFigures = Readonly<Record<Figure, bigint>>

export const FOLDED_KEYS = [
  'requests',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const

export type Folded = Readonly<Record<(typeof FOLDED_KEYS)[number] | Figure, bigint>>

export type RawUsage = ReadonlyMap<string, RawFigures>
export type FoldedUsage = ReadonlyMap<string, Folded>

const written = (summary: JsonObject | undefined): JsonObject => {
  const usage = property(summary, 'usage')
  return isObject(usage) ? usage : {}
}

/** Every model that the summary names, whatever stands behind the name. */
export const modelKeys = (summary: JsonObject | undefined): ReadonlyArray<string> =>
  Object.keys(written(summary))

const readEntry = (entry: Json, hasStatusCounts: boolean): RawFigures => {
  const usage = modelUsageOf('', isObject(entry) ? entry : {}, hasStatusCounts)
  // Until a price is found that charges them.
  const hasExtras = EXTRAS.some((extra) => usage[extra] > 0)
  const read = { ...usage, unrecognized_usage: hasExtras ? 1 : usage.unrecognized_usage }
  return Object.fromEntries(FIGURES.map((key) => [key, BigInt(read[key])])) as Record<Figure, bigint>
}

/** The figures as written; an entry that is no object has none, so folding drops it. */
export const rawUsage = (summary: JsonObject | undefined): RawUsage =>
  new Map(
    Object.entries(written(summary)).map(([model, entry]) => [
      model,
      readEntry(entry, isObject(property(summary, 'status_counts'))),
    ]),
  )

/** raw − Σ parts, key by key, never below 0. */
export const without = (raw: RawUsage, parts: ReadonlyArray<RawUsage>): RawUsage =>
  new Map([...raw].map(([model, figures]) => [model, remainder(model, figures, parts)]))

const remainder = (model: string, figures: RawFigures, parts: ReadonlyArray<RawUsage>): RawFigures => {
  const left = { ...figures }
  for (const key of FIGURES) {
    for (const part of parts) left[key] -= part.get(model)?.[key] ?? 0n
    if (left[key] < 0n) left[key] = 0n
  }
  return left
}

/** A total that is missing is the sum; a model without any figure is dropped. */
export const folded = (raw: RawUsage): FoldedUsage =>
  new Map(
    [...raw]
      .map(([model, figures]) => [model, foldEntry(figures)] as const)
      .filter(([, entry]) => FIGURES.some((key) => entry[key] !== 0n)),
  )

const foldEntry = (raw: RawFigures): Folded => ({
  ...raw,
  total_tokens: raw.total_tokens === 0n ? raw.prompt_tokens + raw.completion_tokens : raw.total_tokens,
})

export const summed = (usages: ReadonlyArray<FoldedUsage>): FoldedUsage => {
  const sums = new Map<string, Folded>()
  for (const usage of usages)
    for (const [model, entry] of usage) {
      const before = sums.get(model)
      sums.set(model, before === undefined ? entry : plus(before, entry))
    }
  return sums
}

const plus = (a: Folded, b: Folded): Folded => {
  const sum = { ...a }
  for (const key of FIGURES) sum[key] += b[key]
  return sum
}

/** As it stands in an answer: numbers within ±2^53, costs null. */
export const answered = (usage: FoldedUsage): Readonly<Record<string, AggregatedUsage>> =>
  Object.fromEntries([...usage].map(([model, entry]) => [model, answeredEntry(entry)]))

const answeredEntry = (entry: Folded): AggregatedUsage => ({
  requests: Number(clamped(entry.requests)),
  prompt_tokens: Number(clamped(entry.prompt_tokens)),
  completion_tokens: Number(clamped(entry.completion_tokens)),
  total_tokens: Number(clamped(entry.total_tokens)),
  cache_read_input_tokens: Number(clamped(entry.cache_read_input_tokens)),
  cache_creation_input_tokens: Number(clamped(entry.cache_creation_input_tokens)),
  prompt_tokens_total_cost: null,
  completion_tokens_total_cost: null,
  cache_read_input_tokens_total_cost: null,
  cache_creation_input_tokens_total_cost: null,
  ...Object.fromEntries(
    ([...EXTRA_UNITS, 'unrecognized_usage', 'cache_hits', 'saved_tokens'] as const)
      .filter((key) => entry[key] !== 0n)
      .map((key) => [key, Number(clamped(entry[key]))]),
  ),
  ...(entry.saved_cost === 0n ? {} : { saved_cost: Number(clamped(entry.saved_cost)) / 1e12 }),
})
