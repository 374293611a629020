import type { Amount } from '../../../domain/prices/decimal.js'
import type { CallSelection } from '../../calls/select.js'

export const AGGREGATIONS = ['sum', 'avg', 'min', 'max', 'count'] as const
export type Aggregation = (typeof AGGREGATIONS)[number]

/** Selects the calls that are counted, by a filter, an operation and a range of start times. */
export interface Span extends CallSelection {
  readonly began: NonNullable<CallSelection['began']>
  /** The starts of the buckets in seconds since 1970; the first is at or before the start of the range. */
  readonly starts: readonly number[]
}

/** The requested figures of a metric, at least one. */
export interface RequestedMetric<Metric extends string> {
  readonly metric: Metric
  readonly aggregations: readonly Aggregation[]
  /** From 0 to 100. */
  readonly percentiles: readonly number[]
}

/** A sum of costs is an exact amount; null for a figure without values. */
export type Figure = number | Amount | null

/** The figures of one bucket by their names. */
export type Figures = Readonly<Record<string, Figure>>

/** The names of a figure; the second is that of the Weave service. */
const namesOf = (metric: string, figure: Aggregation | number): readonly string[] => {
  const name = typeof figure === 'number' ? `p${figure}` : figure
  return [`${metric}_${name}`, `${name}_${metric}`]
}

/** How many figures a bucket has. */
export const figureCount = (wanted: readonly RequestedMetric<string>[]): number =>
  wanted.reduce((sum, { aggregations, percentiles }) => sum + aggregations.length + percentiles.length, 0)

/** The figures of a bucket without values. */
export const NOTHING: Readonly<Record<Aggregation, number | null>> = {
  sum: 0,
  avg: 0,
  min: null,
  max: null,
  count: 0,
}

/** The figures of a bucket under all their names. */
export const figures = (
  wanted: readonly RequestedMetric<string>[],
  figureOf: (place: number, figure: Aggregation | number) => Figure,
): Figures =>
  Object.fromEntries(
    wanted.flatMap(({ metric, aggregations, percentiles }, place) =>
      [...aggregations, ...percentiles].flatMap((figure) => {
        const value = figureOf(place, figure)
        return namesOf(metric, figure).map((name) => [name, value] as const)
      }),
    ),
  )
