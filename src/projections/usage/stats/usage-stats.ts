import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import { numberFrom } from '../../../domain/prices/decimal.js'
import { forEachCost, UNITS } from '../../../domain/prices/units.js'
import { SETTINGS } from '../../calls/select.js'
import {
  COSTS,
  COUNTER_COLUMNS,
  isCost,
  isPriced,
  SHOWN_COUNTERS,
  type Counter,
  type ShownCounter,
} from '../columns.js'
import { joined, raw, select, sql, typed, type Sql } from '../../sql.js'
import { pricedSql } from '../query/groups-sql.js'
import { clamped } from '../query/queries.js'
import { readManyUsage, selectsByCalls, type OpenTraces } from '../query/usage-rows.js'
import {
  figures,
  NOTHING,
  type Aggregation,
  type Figure,
  type Figures,
  type RequestedMetric,
  type Span,
} from './metric.js'

type Alias = Extract<(typeof COUNTER_COLUMNS)[Counter], { alias: string }>['alias']

/** The sum of measures that each metric is. */
const MEASURED = {
  ...(Object.fromEntries(
    SHOWN_COUNTERS.flatMap((counter) => {
      const column = COUNTER_COLUMNS[counter]
      return [...('alias' in column ? [[column.alias, counter]] : []), [counter, counter]]
    }),
  ) as Record<ShownCounter | Alias, ShownCounter>),
  input_cost: COSTS.filter((cost) => /^(?:prompt|cache)/.test(cost)).join(' + '),
  output_cost: 'completion_cost',
  ...forEachCost((unit): string => UNITS[unit].cost),
  provider_cost: 'provider_cost',
  total_cost: 'total_cost',
}

export type UsageMetric = keyof typeof MEASURED
export const USAGE_METRICS = Object.keys(MEASURED) as [UsageMetric, ...UsageMetric[]]

export interface UsageBucket {
  /** In seconds since 1970. */
  readonly start: number
  readonly model: string
  /** How many calls used the model. */
  readonly calls: number
  readonly figures: Figures
}

interface UsageStatsQuery {
  readonly wanted: readonly RequestedMetric<UsageMetric>[]
  readonly open: OpenTraces
  /** Throws if the answer would have too many models. */
  readonly requireFew: (models: number) => void
}

export interface UsageStats {
  readonly buckets: Iterable<UsageBucket>
  /** The models that calls used tokens of without a price, in order; none where costs were not requested. */
  readonly unpriced: readonly string[]
}

/** The most values in one answer, over all buckets and models. */
const MAX_ROWS = 1_000_000

/**
 * What the calls of each bucket used themselves, by model, and what this cost. Every model has all buckets.
 *
 * @throws UnknownField
 */
export const usageStats =
  (reader: ClickHouseReader) =>
  async (span: Span, { wanted, open, requireFew }: UsageStatsQuery): Promise<UsageStats> => {
    const asked = { ...span, kind: 'own', open } as const
    const rows = await readManyUsage(reader, asked, selectsByCalls(asked), (merged) => {
      const groupBy = [{ name: 'bucket', starts: span.starts }, { name: 'model' }] as const
      const priced = pricedSql({ ...asked, merged, groupBy, isCompared: false }, wanted.every(isOfSums))
      return select<Row>(reader, statsSql(wanted, priced))
    })
    if (rows.length > MAX_ROWS) requireFew(Infinity)
    const byModel = new Map<string, Map<number, Row>>()
    const unpriced = new Set<string>()
    for (const row of rows) {
      const model = row['key_1'] as string
      const buckets = byModel.get(model) ?? new Map<number, Row>()
      byModel.set(model, buckets.set(row['key_0'] as number, row))
      if (Number(row['is_unpriced']) > 0) unpriced.add(model)
    }
    requireFew(byModel.size)
    return { buckets: bucketsFrom(span.starts, wanted, byModel), unpriced: [...unpriced].sort() }
  }

type Row = Readonly<Record<string, unknown>>

function* bucketsFrom(
  starts: readonly number[],
  wanted: readonly RequestedMetric<UsageMetric>[],
  byModel: ReadonlyMap<string, ReadonlyMap<number, Row>>,
): Generator<UsageBucket> {
  for (const start of starts)
    for (const [model, buckets] of byModel) {
      const row = buckets.get(start)
      yield {
        start,
        model,
        calls: Number(row?.['calls'] ?? 0),
        figures: figures(wanted, (place, figure) => figureOf(row, wanted[place]!, place, figure)),
      }
    }
}

const figureOf = (
  row: Row | undefined,
  { metric, percentiles }: RequestedMetric<UsageMetric>,
  place: number,
  figure: Aggregation | number,
): Figure => {
  if (typeof figure === 'number')
    return row === undefined || isUnknown(row, metric)
      ? null
      : (row[levelOf(place, percentiles.indexOf(figure))] as number)
  if (row === undefined) return NOTHING[figure]
  if (isUnknown(row, metric)) return figure === 'count' ? Number(row['calls']) : null
  const calls = Number(row['calls'])
  if (figure === 'count') return calls
  const value = BigInt(row[`${figure === 'avg' ? 'sum' : figure}_${place}`] as string)
  if (figure === 'avg') return (isCost(metric) ? numberFrom(value) : Number(value)) / calls
  if (!isCost(metric)) return Number(clamped(value))
  return figure === 'sum' ? value : numberFrom(value)
}

/** What tokens without a price cost is unknown. Their provider may have told the total. */
const isUnknown = (row: Row, metric: UsageMetric): boolean =>
  isPriced(metric) && Number(row['is_unpriced']) > 0 && (metric !== 'total_cost' || row['provider'] === '0')

const levelOf = (place: number, nth: number): string => `level_${place}_${nth}`

/** Figures of the priced rows of calls and models, by bucket and model. */
const statsSql = (wanted: readonly RequestedMetric<UsageMetric>[], priced: Sql): Sql => {
  const columns = wanted.flatMap(({ metric, aggregations, percentiles }, place) => {
    const value = MEASURED[metric]
    const size = raw(isCost(metric) ? `toFloat64(${value}) / 1e12` : `toFloat64(${value})`)
    return [
      ...aggregatesOf(aggregations).map((each) => raw(`toString(${each}(${value})) AS ${each}_${place}`)),
      ...percentiles.map((percentile, nth) => {
        const level = typed('Float64', percentile / 100)
        return sql`quantileExactInclusive(${level})(${size}) AS ${raw(levelOf(place, nth))}`
      }),
    ]
  })
  return sql`SELECT key_0, key_1, toInt64(sum(calls)) AS calls, max(notEmpty(unpriced)) AS is_unpriced,
      toString(sum(provider_cost)) AS provider, ${joined(columns)}
      FROM (${priced}) AS priced
      GROUP BY key_0, key_1 ORDER BY key_1, key_0 LIMIT ${raw(String(MAX_ROWS + 1))} ${SETTINGS}`
}

/** Whether sums of several calls are enough. */
const isOfSums = ({ aggregations, percentiles }: RequestedMetric<UsageMetric>): boolean =>
  percentiles.length === 0 && !aggregations.includes('min') && !aggregations.includes('max')

/** An average is computed from the sum. */
const aggregatesOf = (aggregations: readonly Aggregation[]): readonly ('sum' | 'min' | 'max')[] => [
  ...(aggregations.includes('sum') || aggregations.includes('avg') ? (['sum'] as const) : []),
  ...(['min', 'max'] as const).filter((each) => aggregations.includes(each)),
]
