import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Books } from '../prices/queries-of-books.js'
import { chargingOf, type Charge, type Charging } from '../usage/billing.js'
import { loadTraces, usageReportingAt } from '../usage/load.js'
import { eachOwnEntry, type OwnEntry } from '../usage/own-entries.js'
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
      const columns = await loadTraces(reader, projectId, traceIds, position, { maxTraceCalls })
      const buckets = await bucketsOf(reader, span, traceIds, columns)
      const charging = book === null ? null : chargingOf(columns, book)
      await eachOwnEntry(columns, reporting, (entry) => {
        const bucket = buckets[entry.call]!
        if (bucket < 0) return
        const model = columns.reported.models[entry.model]!
        const costs = charging === null ? null : costsOf(charging, entry)
        if (charging !== null && costs === null && isCharged(entry)) unpriced.add(model)
        gathered.add(bucket, model, entry, costs)
      })
    }
    return { buckets: gathered.buckets(), unpriced: [...unpriced].sort() }
  }

const costsOf = ({ counting, charges }: Charging, { call, model }: OwnEntry): Charge['costs'] =>
  charges[counting.keyOf(call, model)]!.costs

const isCharged = ({ tokens }: OwnEntry): boolean => Array.from(tokens).some(Boolean)
