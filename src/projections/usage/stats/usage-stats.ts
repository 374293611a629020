import type { ClickHouseReader, SqlParameter } from '../../../kernel/ports/clickhouse.js'
import { numberFrom } from '../../../domain/prices/decimal.js'
import { SETTINGS } from '../../calls/select.js'
import type { PriceBook } from '../../prices/book.js'
import { priceSteps, type PriceSteps } from '../query/price-steps.js'
import { clamped } from '../query/queries.js'
import {
  CHARGED,
  readManyUsage,
  selectsByCalls,
  usageRows,
  type OpenTraces,
  type Relation,
} from '../query/usage-rows.js'
import {
  figures,
  NOTHING,
  type Aggregation,
  type Figure,
  type Figures,
  type RequestedMetric,
} from './metric.js'
import type { Span } from './span.js'

/** The counter that each metric sums up. */
const COUNTER = {
  requests: 'requests',
  input_tokens: 'prompt_tokens',
  prompt_tokens: 'prompt_tokens',
  output_tokens: 'completion_tokens',
  completion_tokens: 'completion_tokens',
  total_tokens: 'total_tokens',
  cache_read_input_tokens: 'cache_read_input_tokens',
  cache_creation_input_tokens: 'cache_creation_input_tokens',
} as const

const COSTS = ['prompt_cost', 'completion_cost', 'cache_read_cost', 'cache_creation_cost'] as const

/** The costs that each metric adds, as places in `COSTS`. */
const CHARGES = { input_cost: [0, 2, 3], output_cost: [1], total_cost: [0, 1, 2, 3] } as const

const keysOf = <K extends string>(table: Readonly<Record<K, unknown>>) => Object.keys(table) as [K, ...K[]]

export const USAGE_METRICS = [...keysOf(COUNTER), ...keysOf(CHARGES)] as const
export type UsageMetric = (typeof USAGE_METRICS)[number]

export const isCost = (metric: UsageMetric): metric is keyof typeof CHARGES => Object.hasOwn(CHARGES, metric)

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
  /** Null where no costs are requested. */
  readonly prices: PriceBook | null
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
  async (span: Span, { wanted, prices, open, requireFew }: UsageStatsQuery): Promise<UsageStats> => {
    const asked = { ...span, kind: 'own', open } as const
    const rows = await readManyUsage(reader, asked, selectsByCalls(asked), (merged) => {
      const { sql, parameters } = statsSql(span, wanted, prices, usageRows({ ...asked, merged }))
      return reader.query<Row>(sql, parameters)
    })
    if (rows.length > MAX_ROWS) requireFew(Infinity)
    const byModel = new Map<string, Map<number, Row>>()
    const unpriced = new Set<string>()
    for (const row of rows) {
      const model = row['model'] as string
      const buckets = byModel.get(model) ?? new Map<number, Row>()
      byModel.set(model, buckets.set(row['bucket'] as number, row))
      if (Number(row['unpriced']) > 0) unpriced.add(model)
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
    return row === undefined ? null : (row[levelOf(place, percentiles.indexOf(figure))] as number)
  if (row === undefined) return NOTHING[figure]
  const calls = Number(row['calls'])
  if (figure === 'count') return calls
  const value = BigInt(row[`${figure === 'avg' ? 'sum' : figure}_${place}`] as string)
  if (figure === 'avg') return (isCost(metric) ? numberFrom(value) : Number(value)) / calls
  if (!isCost(metric)) return Number(clamped(value))
  return figure === 'sum' ? value : numberFrom(value)
}

const levelOf = (place: number, nth: number): string => `level_${place}_${nth}`

const statsSql = (
  span: Span,
  wanted: readonly RequestedMetric<UsageMetric>[],
  prices: PriceBook | null,
  usage: Relation,
): Relation => {
  const steps = prices === null ? undefined : priceSteps(prices)
  const levels: Record<string, SqlParameter> = {}
  const columns = wanted.flatMap(({ metric, aggregations, percentiles }, place) => {
    const value = valueOf(metric)
    return [
      ...aggregatesOf(aggregations).map((each) => `toString(${each}(${value})) AS ${each}_${place}`),
      ...percentiles.map((percentile, nth) => {
        const name = levelOf(place, nth)
        levels[name] = percentile / 100
        const size = isCost(metric) ? `toFloat64(${value}) / 1e12` : `toFloat64(${value})`
        return `quantileExactInclusive({${name}:Float64})(${size}) AS ${name}`
      }),
    ]
  })
  return {
    sql: `SELECT intDiv(roundDown(toUnixTimestamp64Micro(rows.started_at), {starts:Array(Int64)}), 1000000) AS bucket,
      toString(rows.model) AS model, count() AS calls, ${unpricedOf(steps)} AS unpriced, ${columns.join(', ')}
      FROM ${usage.sql} AS rows ${pricesJoin(steps)}
      GROUP BY bucket, rows.model ORDER BY model, bucket LIMIT ${MAX_ROWS + 1} ${SETTINGS}`,
    parameters: {
      ...usage.parameters,
      ...levels,
      ...steps?.parameters,
      starts: span.starts.map((start) => BigInt(start) * 1_000_000n),
    },
  }
}

/** An average is computed from the sum. */
const aggregatesOf = (aggregations: readonly Aggregation[]): readonly ('sum' | 'min' | 'max')[] => [
  ...(aggregations.includes('sum') || aggregations.includes('avg') ? (['sum'] as const) : []),
  ...(['min', 'max'] as const).filter((each) => aggregations.includes(each)),
]

const pricesJoin = (steps: PriceSteps | undefined): string =>
  steps === undefined
    ? ''
    : `ASOF LEFT JOIN ${steps.sql} AS steps
      ON rows.model = steps.model AND rows.priced_at >= steps.since`

const unpricedOf = (steps: PriceSteps | undefined): string =>
  steps === undefined
    ? '0'
    : `countIf(steps.is_priced = 0 AND (${CHARGED.map((tokens) => `rows.${tokens} != 0`).join(' OR ')}))`

const valueOf = (metric: UsageMetric): string =>
  isCost(metric)
    ? `(${CHARGES[metric].map((kind) => `rows.${CHARGED[kind]} * steps.${COSTS[kind]}`).join(' + ')})`
    : `toInt128(rows.${COUNTER[metric]})`
