import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import { LARGEST_EXACT } from '../../../domain/prices/exact.js'
import { isCostUnknown } from '../../../domain/calls/usage/charged.js'
import { SETTINGS } from '../../calls/select.js'
import { joined, raw, select, sql, statementOf, typed } from '../../sql.js'
import { isCost, isPriced, MEASURES, measureName, type Measure } from '../columns.js'
import { readGroups, type UsageQuery } from './groups-sql.js'

export interface UsageGroup {
  /** In the order of `groupBy`: text, or the start of a time bucket in seconds since 1970; undefined for the others. */
  readonly key: readonly (string | number)[] | undefined
  /** How many groups it is made of. */
  readonly groups: number
  readonly figures: UsageFigures
  readonly previous: UsageFigures | undefined
}

/** Counts, and costs in units of 10^-12. */
export type UsageFigures = Readonly<Record<Measure, bigint>> & { readonly pricing: Pricing }

export interface Pricing {
  /** Whether tokens of a model with a price were used. */
  readonly isPriced: boolean
  /** Models without a price that used tokens, a limited number of them. */
  readonly unpriced: readonly string[]
  readonly unpricedCount: number
}

/** What providers reported is part of the total only. */
export const isUnknownCost = (measure: Measure, { pricing, provider_cost }: UsageFigures): boolean =>
  isPriced(measure) &&
  isCostUnknown({
    hasPriced: pricing.isPriced,
    hasUnpriced: pricing.unpricedCount > 0,
    hasReported: measure === 'total_cost' && provider_cost !== 0n,
  })

/**
 * Usage and cost of the selected calls by group, in order, and the sum of the groups beyond the limit as the last.
 *
 * @throws UnknownField
 */
export const usageBy = async (
  reader: ClickHouseReader,
  query: UsageQuery,
): Promise<readonly UsageGroup[]> => {
  const rows = await readGroups(reader, query, (groups) =>
    select<Row>(reader, sql`${groups} ORDER BY place ${SETTINGS}`),
  )
  return rows.map((row) => groupOf(row, query))
}

/**
 * The same groups as Parquet, written by the engine: the columns are the dimensions, `groups`, the measures and, where it is compared,
 * those of the previous period. The row of the groups beyond the limit has no dimensions.
 *
 * @throws UnknownField
 */
export const usageParquet = (reader: ClickHouseReader, query: UsageQuery): Promise<readonly Uint8Array[]> => {
  const prefixes = query.isCompared ? ['', 'previous_'] : ['']
  const hasCosts = query.open.prices !== null
  const keys = query.groupBy.map((dimension, index) => {
    const value =
      'starts' in dimension ? `fromUnixTimestamp64Milli(key_${index} * 1000, 'UTC')` : `key_${index}`
    return sql`if(place > ${typed('UInt64', query.limit)}, NULL, ${raw(value)}) AS ${raw(backquoted(dimension.name))}`
  })
  const measures = prefixes.flatMap((prefix) =>
    MEASURES.filter((measure) => hasCosts || !isCost(measure)).map((measure) =>
      isCost(measure)
        ? `if(${unknownSql(measure, prefix)}, NULL, ${decimalSql(`${prefix}${measure}`)}) AS ${prefix}${measureName(measure)}`
        : `toInt64(greatest(least(toInt256(${prefix}${measure}), toInt256(${LARGEST})), -toInt256(${LARGEST}))) AS ${prefix}${measure}`,
    ),
  )
  const unpriced = prefixes.flatMap((prefix) => [
    `toInt64(${prefix}unpriced_model_count) AS ${prefix}unpriced_model_count`,
    `replaceAll(toJSONString(arraySlice(answered.${prefix}unpriced_models, 1, 100)), '\\\\/', '/') AS ${prefix}unpriced_models`,
  ])
  const others = ['group_count AS groups', ...measures, ...(hasCosts ? unpriced : [])]
  const columns = joined([...keys, raw(others.join(', '))])
  return readGroups(reader, query, async (groups) => {
    const chunks: Uint8Array[] = []
    const { text, parameters } = statementOf(
      sql`SELECT ${columns} FROM (${groups}) AS answered ORDER BY place ${SETTINGS}`,
    )
    for await (const chunk of reader.stream(text, parameters, { format: 'Parquet' })) chunks.push(chunk)
    return chunks
  })
}

/** Readers take decimals of at most 38 digits; a larger cost is shown as the largest of these. */
const LARGEST_DECIMAL = '9'.repeat(38)

const decimalSql = (units: string): string => {
  const bound = `toInt256('${LARGEST_DECIMAL}')`
  const bounded = `greatest(least(toInt256(answered.${units}), ${bound}), -${bound})`
  return `CAST(toDecimal256(${bounded}, 12) / 1000000000000 AS Decimal(38, 12))`
}

/** See `isUnknownCost`. */
const unknownSql = (measure: Measure, prefix: string): string => {
  if (!isPriced(measure)) return '0'
  const isUnpriced = `answered.${prefix}unpriced_model_count > 0 AND answered.${prefix}is_priced = 0`
  return measure === 'total_cost'
    ? `${isUnpriced} AND toInt256(answered.${prefix}provider_cost) = 0`
    : isUnpriced
}

const LARGEST = BigInt(LARGEST_EXACT)

/** Counts are exact up to 2^53. Larger ones are shown as 2^53. */
export const clamped = (count: bigint): bigint =>
  count > LARGEST ? LARGEST : count < -LARGEST ? -LARGEST : count

const backquoted = (name: string): string => `\`${name.replaceAll(/[\\`]/g, '\\$&')}\``

type Row = Readonly<Record<string, unknown>>

const groupOf = (row: Row, { groupBy, isCompared, limit }: UsageQuery): UsageGroup => ({
  key:
    Number(row['place']) > limit
      ? undefined
      : groupBy.map((_, index) => row[`key_${index}`] as string | number),
  groups: Number(row['group_count']),
  figures: figuresOf(row, ''),
  previous: isCompared ? figuresOf(row, 'previous_') : undefined,
})

const figuresOf = (row: Row, prefix: string): UsageFigures =>
  ({
    ...Object.fromEntries(MEASURES.map((measure) => [measure, BigInt(row[`${prefix}${measure}`] as string)])),
    pricing: {
      isPriced: Number(row[`${prefix}is_priced`]) === 1,
      unpriced: row[`${prefix}unpriced_models`] as readonly string[],
      unpricedCount: Number(row[`${prefix}unpriced_model_count`]),
    },
  }) as UsageFigures
