import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import { LARGEST_EXACT } from '../../../domain/prices/exact.js'
import { isCostUnknown } from '../../../domain/calls/usage/charged.js'
import { SETTINGS } from '../../calls/select.js'
import { select, sql } from '../../sql.js'
import { isPriced, MEASURES, type Measure } from '../columns.js'
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

const LARGEST = BigInt(LARGEST_EXACT)

/** Counts are exact up to 2^53. Larger ones are shown as 2^53. */
export const clamped = (count: bigint): bigint =>
  count > LARGEST ? LARGEST : count < -LARGEST ? -LARGEST : count

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
