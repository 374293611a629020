import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Books } from '../prices/queries-of-books.js'
import { yielding } from '../../yield-to-event-loop.js'
import { chargedTokens, chargesOf } from '../usage/charges.js'
import { COUNTERS, ownUsage } from '../usage/own-usage.js'
import { loadTraces, usageReportingAt } from '../usage/facts.js'
import { gathering, type UsageBucket } from './gathering.js'
import type { RequestedMetric } from './metric.js'
import type { Span } from './span.js'
import { bucketsOf, tracesIn } from './traces.js'
import { isCost, type UsageMetric } from './usage-metrics.js'

interface Asked {
  readonly wanted: readonly RequestedMetric<UsageMetric>[]
  /** Costs by this price list alone; null for the project's prices and the default list's. */
  readonly list: string | null
  /** The largest trace that one answer may work on, in calls. */
  readonly maxTraceCalls: number
  /** Refuses an answer that would have so many models. */
  readonly requireFew: (models: number) => void
}

export interface UsageStats {
  readonly buckets: Iterable<UsageBucket>
  /** The models that calls used tokens of without a price, in order; none where costs were not asked for. */
  readonly unpriced: readonly string[]
}

/**
 * What the calls of each bucket used themselves, by model, and what this cost, in the order of buckets and models. A
 * call's own usage depends on its neighbours, so whole traces are loaded, some at a time; what is kept is the sums.
 *
 * @throws UnknownField
 */
export const usageStats =
  (reader: ClickHouseReader, books: Books) =>
  async (span: Span, { wanted, list, maxTraceCalls, requireFew }: Asked): Promise<UsageStats> => {
    if (wanted.length === 0) return { buckets: [], unpriced: [] }
    const { projectId, position } = span
    const reporting = await usageReportingAt(reader, projectId, position)
    const isPriced = wanted.some(({ metric }) => isCost(metric))
    const book = isPriced ? await books({ projectId, list, position }) : null
    const gathered = gathering(span.starts, wanted, requireFew)
    const unpriced = new Set<string>()
    for await (const traceIds of tracesIn(reader, span)) {
      const calls = await loadTraces(reader, projectId, traceIds, position, { maxTraceCalls })
      const buckets = await bucketsOf(reader, span, traceIds, calls)
      const { charges, keyOf } = chargesOf(calls, book)
      const { offsets, model, values } = await ownUsage(calls, reporting)
      const pause = yielding()
      for (const [call, bucket] of buckets.entries()) {
        if (call % 64 === 0) await pause()
        if (bucket < 0) continue
        for (let entry = offsets[call]!; entry < offsets[call + 1]!; entry += 1) {
          const counters = values.slice(entry * COUNTERS.length, (entry + 1) * COUNTERS.length)
          const { model: name, costs } = charges[keyOf(call, model[entry]!)]!
          if (isPriced && costs === null && chargedTokens(counters).some(Boolean)) unpriced.add(name)
          gathered.add(bucket, name, counters, costs)
        }
      }
    }
    return { buckets: gathered.buckets(), unpriced: [...unpriced].sort() }
  }
