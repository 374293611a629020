import type { ClickHouseReader, SqlParameters } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Operation } from '../../domain/query/expression.js'
import { compileCondition } from '../expression/compile.js'
import { orderTerms, type OrderBy } from '../expression/order.js'
import { newParameters } from '../expression/parameters.js'
import { PRICE_FIELDS, SELECTED, storedPrice, type StoredPrice } from './stored-price.js'

export type { OrderBy } from '../expression/order.js'
export type { StoredPrice } from './stored-price.js'

export interface PriceQuestion {
  /** A project, or a list. */
  readonly owner: string
  readonly operation: Operation | null
  readonly position: Position
  readonly order: readonly OrderBy[]
  readonly limit: number
  readonly offset: number
}

/**
 * The prices that a query selects, in the given order and then in the order in which they were published.
 *
 * @throws UnknownField
 */
export const pricesOf =
  (reader: Pick<ClickHouseReader, 'query'>) =>
  async ({ owner, operation, position, order, limit, offset }: PriceQuestion) => {
    const compiled = operation === null ? undefined : compileCondition(operation, PRICE_FIELDS)
    const ordering = newParameters('o')
    const terms = [...orderTerms(order, PRICE_FIELDS, ordering), 'published_position', 'id']
    return standing(
      reader,
      `owner = {owner:String} ${compiled === undefined ? '' : `AND ${compiled.sql}`}`,
      `ORDER BY ${terms.join(', ')} LIMIT {limit:UInt64} OFFSET {offset:UInt64}`,
      { ...compiled?.parameters, ...ordering.all(), owner, position, limit, offset },
    )
  }

/** All prices of the given owners as of a position, in the order in which they were published. */
export const pricesAt = (
  reader: Pick<ClickHouseReader, 'query'>,
  owners: readonly string[],
  position: Position,
): Promise<readonly StoredPrice[]> =>
  standing(reader, 'owner IN {owners:Array(String)}', 'ORDER BY published_position, id', { owners, position })

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
  condition: string,
  rest: string,
  parameters: SqlParameters,
): Promise<readonly StoredPrice[]> => {
  const rows = await reader.query<Record<string, string | null>>(
    `SELECT ${SELECTED} FROM prices FINAL WHERE published_position <= {position:UInt64}
    AND (withdrawn_position IS NULL OR withdrawn_position > {position:UInt64}) AND ${condition} ${rest}`,
    parameters,
  )
  return rows.map(storedPrice)
}
