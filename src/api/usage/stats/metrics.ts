import { figureCount, type RequestedMetric } from '../../../projections/usage/stats/metric.js'
import { Failure, invalidField } from '../../../application/failure.js'
import type { CallStatsRequest } from './codecs.js'

/** Fields of `group_by`. */
export const MOST_GROUP_FIELDS = 3
const MOST_METRICS = 32
const MOST_PERCENTILES = 32

/** Limits the values in a response, over all buckets. */
const MOST_FIGURES = 1_000_000

type MetricRequest = NonNullable<CallStatsRequest['usage_metrics'] | CallStatsRequest['call_metrics']>[number]

/** Merges the requested aggregations by metric, without duplicates. The default is the sum. */
export const requestedMetrics = <M extends MetricRequest>(
  field: string,
  asked: readonly M[] | null,
): readonly RequestedMetric<M['metric']>[] => {
  requireFew(asked ?? [], [field], MOST_METRICS)
  const byMetric = new Map<string, { aggregations: Set<string>; percentiles: Set<number> }>()
  for (const [index, { metric, aggregations, percentiles }] of (asked ?? []).entries()) {
    const at = [field, index]
    requirePercentiles(percentiles ?? [], [...at, 'percentiles'])
    const known = byMetric.get(metric) ?? { aggregations: new Set(), percentiles: new Set() }
    const isBare = (aggregations ?? []).length + (percentiles ?? []).length === 0
    for (const one of isBare ? ['sum'] : (aggregations ?? [])) known.aggregations.add(one)
    for (const one of percentiles ?? []) known.percentiles.add(one)
    byMetric.set(metric, known)
  }
  return [...byMetric].map(
    ([metric, { aggregations, percentiles }]) =>
      ({ metric, aggregations: [...aggregations], percentiles: [...percentiles] }) as never,
  )
}

const requirePercentiles = (percentiles: readonly number[], at: readonly (string | number)[]): void => {
  requireFew(percentiles, at, MOST_PERCENTILES)
  const odd = percentiles.findIndex((one) => one < 0 || one > 100)
  if (odd >= 0) throw invalidField([...at, odd], 'value_error', 'Value error, input should be from 0 to 100')
}

export const requireFew = (
  list: readonly unknown[],
  at: readonly (string | number)[],
  most: number,
): void => {
  if (list.length > most)
    throw invalidField(at, 'too_long', `List should have at most ${most} items after validation`)
}

export const requireBoundedResponse = (
  buckets: number,
  wanted: readonly RequestedMetric<string>[],
  models = 1,
): void => {
  if (buckets * models * (figureCount(wanted) + 1) > MOST_FIGURES)
    throw new Failure(
      'too-large',
      `The response would exceed ${MOST_FIGURES} values. Use longer buckets, a shorter range or fewer metrics.`,
    )
}
