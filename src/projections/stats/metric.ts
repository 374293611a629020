import type { Amount } from '../../domain/price/decimal.js'

export const AGGREGATIONS = ['sum', 'avg', 'min', 'max', 'count'] as const
export type Aggregation = (typeof AGGREGATIONS)[number]

/** What is asked of one metric, at least one figure. */
export interface RequestedMetric<Metric extends string> {
  readonly metric: Metric
  readonly aggregations: readonly Aggregation[]
  /** From 0 to 100. */
  readonly percentiles: readonly number[]
}

/** A sum of costs is an exact amount; null where there is nothing to tell a figure from. */
export type Figure = number | Amount | null

/** The figures of one bucket by their names. */
export type Figures = Readonly<Record<string, Figure>>

/** The names under which a figure stands: the second is that of the Weave service. */
const namesOf = (metric: string, figure: Aggregation | number): readonly string[] => {
  const name = typeof figure === 'number' ? `p${figure}` : figure
  return [`${metric}_${name}`, `${name}_${metric}`]
}

/** How many figures a bucket has. */
export const figureCount = (wanted: readonly RequestedMetric<string>[]): number =>
  wanted.reduce((sum, { aggregations, percentiles }) => sum + aggregations.length + percentiles.length, 0)

/** Of nothing there are none, and their sum and average are 0; a least, a largest or a percentile there is not. */
export const NOTHING: Readonly<Record<Aggregation, number | null>> = {
  sum: 0,
  avg: 0,
  min: null,
  max: null,
  count: 0,
}

/** The figures of a bucket, each from what `figureOf` answers. */
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
