import type { Charge } from '../usage/charges.js'
import { figures, type Figures, type RequestedMetric } from './metric.js'
import { roomForValues, Sums } from './sums.js'
import { measureOf, type UsageMetric } from './usage-metrics.js'

export interface UsageBucket {
  /** In seconds since 1970. */
  readonly start: number
  readonly model: string
  /** How many calls used the model. */
  readonly calls: number
  readonly figures: Figures
}

interface Used {
  calls: number
  readonly sums: readonly Sums[]
}

/**
 * Sums by model and bucket. Every model has all buckets in the end, those without usage too. `requireFew` is told how
 * many models there are.
 */
export const gathering = (
  starts: readonly number[],
  wanted: readonly RequestedMetric<UsageMetric>[],
  requireFew: (models: number) => void,
) => {
  const room = roomForValues()
  const byModel = new Map<string, Map<number, Used>>()
  const measures = wanted.map(({ metric }) => measureOf(metric))
  const none = (): Used => ({
    calls: 0,
    sums: wanted.map(
      ({ percentiles }, place) => new Sums(measures[place]!, percentiles.length > 0 ? room : undefined),
    ),
  })

  return {
    add(bucket: number, model: string, counters: readonly number[], costs: Charge['costs']): void {
      let buckets = byModel.get(model)
      if (buckets === undefined) {
        byModel.set(model, (buckets = new Map<number, Used>()))
        requireFew(byModel.size)
      }
      let used = buckets.get(bucket)
      if (used === undefined) buckets.set(bucket, (used = none()))
      used.calls += 1
      used.sums.forEach((sums, place) => sums.add(measures[place]!.of(counters, costs)))
    },

    *buckets(): Generator<UsageBucket> {
      const nothing = none()
      const models = [...byModel].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      for (const [place, start] of starts.entries())
        for (const [model, buckets] of models) {
          const { calls, sums } = buckets.get(place) ?? nothing
          yield {
            start,
            model,
            calls,
            figures: figures(wanted, (metric, figure) => sums[metric]!.told(figure)),
          }
        }
    },
  }
}
