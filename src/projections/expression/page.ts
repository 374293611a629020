import { sql, typed, type Sql } from '../sql.js'
import type { Fields } from './fields.js'
import { orderSql, type OrderBy } from './order.js'

/** The part of a sorted list that a client asks for. */
export interface Page {
  readonly order: readonly OrderBy[]
  readonly limit: number | null
  readonly offset: number | null
}

/**
 * The end of a statement. `last` are the last terms of its order.
 *
 * @throws UnknownField
 */
export const pageSql = ({ order, limit, offset }: Page, fields: Fields, last?: string): Sql =>
  sql`ORDER BY ${orderSql(order, fields, last)} ${limitSql(limit, offset)}`

export const limitSql = (limit: number | null, offset: number | null): Sql => {
  const limited = limit === null ? sql`` : sql`LIMIT ${typed('UInt64', limit)}`
  return sql`${limited} OFFSET ${typed('UInt64', offset ?? 0)}`
}
