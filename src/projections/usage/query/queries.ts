import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import { LARGEST_EXACT } from '../../../domain/prices/exact.js'
import { SETTINGS } from '../../calls/select.js'
import { isCost, MEASURES, measureName, type Measure } from '../columns.js'
import { readGroups, type UsageQuery } from './groups-sql.js'

export interface UsageGroup {
  /** In the order of `groupBy`: text, or the start of a time bucket in seconds since 1970; undefined for the others. */
  readonly key: readonly (string | number)[] | undefined
  /** How many groups it is made of. */
  readonly groups: number
  readonly figures: UsageFigures
  readonly previous: UsageFigures | undefined
  /** Models without a price that used tokens, a limited number of a group. */
  readonly unpriced: readonly string[]
}

/** Counts, and costs in units of 10^-12. */
export type UsageFigures = Readonly<Record<Measure, bigint>>

/**
 * Usage and cost of the selected calls by group, in order, and the sum of the groups beyond the limit as the last.
 *
 * @throws UnknownField
 */
export const usageBy = async (
  reader: ClickHouseReader,
  query: UsageQuery,
): Promise<readonly UsageGroup[]> => {
  const rows = await readGroups(reader, query, ({ sql, parameters }) =>
    reader.query<Row>(`${sql} ORDER BY place ${SETTINGS}`, parameters),
  )
  return rows.map((row) => groupOf(row, query))
}

/**
 * The same groups, written by the engine: the columns are the dimensions, `groups`, the measures and, where it is compared,
 * those of the previous period. The row of the groups beyond the limit has no dimensions.
 *
 * @throws UnknownField
 */
export const exportUsage = (
  reader: ClickHouseReader,
  query: UsageQuery,
  format: 'CSVWithNames' | 'Parquet',
): Promise<readonly Uint8Array[]> => {
  const prefixes = query.isCompared ? ['', 'previous_'] : ['']
  const keys = query.groupBy.map((dimension, index) => {
    const value =
      'starts' in dimension ? `fromUnixTimestamp64Milli(key_${index} * 1000, 'UTC')` : `key_${index}`
    return `if(place > {limit:UInt64}, NULL, ${value}) AS ${backquoted(dimension.name)}`
  })
  const measures = prefixes.flatMap((prefix) =>
    MEASURES.filter((measure) => query.prices !== null || !isCost(measure)).map((measure) =>
      isCost(measure)
        ? `toDecimal256(${prefix}${measure}, 12) / 1000000000000 AS ${prefix}${measureName(measure)}`
        : `toInt64(greatest(least(toInt256(${prefix}${measure}), toInt256(${LARGEST})), -toInt256(${LARGEST}))) AS ${prefix}${measure}`,
    ),
  )
  const columns = [...keys, 'group_count AS groups', ...measures].join(', ')
  return readGroups(reader, query, async ({ sql, parameters }) => {
    const chunks: Uint8Array[] = []
    const statement = `SELECT ${columns} FROM (${sql}) AS answered ORDER BY place ${SETTINGS}`
    for await (const chunk of reader.stream(statement, parameters, { format })) chunks.push(chunk)
    return chunks
  })
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
  unpriced: row['unpriced_models'] as readonly string[],
})

const figuresOf = (row: Row, prefix: string): UsageFigures =>
  Object.fromEntries(
    MEASURES.map((measure) => [measure, BigInt(row[`${prefix}${measure}`] as string)]),
  ) as unknown as UsageFigures
