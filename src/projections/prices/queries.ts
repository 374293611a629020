import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Operation } from '../../domain/query/expression.js'
import { compileCondition } from '../expression/compile.js'
import { pageSql, type Page } from '../expression/page.js'
import { raw, select, sql, type Sql } from '../sql.js'
import { PRICE_FIELDS, SELECTED, storedPrice, type StoredPrice } from './stored-price.js'

export type { StoredPrice } from './stored-price.js'

export interface PriceQuestion extends Page {
  /** A project, or a list. */
  readonly owner: string
  readonly operation: Operation | null
  readonly position: Position
}

/**
 * The prices that a query selects, in the given order and then in the order in which they were published.
 *
 * @throws UnknownField
 */
export const pricesOf =
  (reader: Pick<ClickHouseReader, 'query'>) =>
  ({ owner, operation, position, ...page }: PriceQuestion) =>
    standing(
      reader,
      position,
      sql`owner = ${owner} AND ${operation === null ? sql`true` : compileCondition(operation, PRICE_FIELDS)}`,
      pageSql(page, PRICE_FIELDS, 'published_position, id'),
    )

/** All prices of the given owners as of a position, in the order in which they were published. */
export const pricesAt = (
  reader: Pick<ClickHouseReader, 'query'>,
  owners: readonly string[],
  position: Position,
): Promise<readonly StoredPrice[]> =>
  standing(reader, position, sql`owner IN ${owners}`, sql`ORDER BY published_position, id`)

/** The position of the last change of the given owners' prices; 0 if there is none. */
export const pricesChangedAt = async (
  reader: Pick<ClickHouseReader, 'query'>,
  owners: readonly string[],
): Promise<Position> => {
  const [row] = await reader.query<{ changed: string }>(
    `SELECT toString(max(greatest(ifNull(published_position, 0), ifNull(withdrawn_position, 0)))) AS changed
    FROM prices WHERE owner IN {owners:Array(String)}`,
    { owners },
  )
  return BigInt(row?.changed ?? 0)
}

/** Whether a list has had a price at a position or before, even one that was withdrawn. */
export const priceListExists = async (
  reader: Pick<ClickHouseReader, 'query'>,
  list: string,
  position: Position,
): Promise<boolean> => {
  const [row] = await reader.query(
    `SELECT 1 AS one FROM prices WHERE owner = {list:String} AND published_position <= {position:UInt64} LIMIT 1`,
    { list, position },
  )
  return row !== undefined
}

const standing = async (
  reader: Pick<ClickHouseReader, 'query'>,
  position: Position,
  condition: Sql,
  rest: Sql,
): Promise<readonly StoredPrice[]> => {
  const rows = await select<Record<string, string | null>>(
    reader,
    sql`SELECT ${raw(SELECTED)} FROM prices FINAL WHERE published_position <= ${position}
    AND (withdrawn_position IS NULL OR withdrawn_position > ${position}) AND ${condition} ${rest}`,
  )
  return rows.map(storedPrice)
}
