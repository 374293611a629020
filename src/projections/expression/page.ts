import { raw, sql, typed, type Sql } from '../sql.js'
import type { Fields } from './fields.js'
import { orderTerms, type OrderBy } from './order.js'
import { newParameters } from './parameters.js'

/** The part of a sorted list that a client asks for. */
export interface Page {
  readonly order: readonly OrderBy[]
  readonly limit: number | null
  readonly offset: number | null
}

/**
 * Terms for ORDER BY, and last the id.
 *
 * @throws UnknownField
 */
export const orderSql = (order: readonly OrderBy[], fields: Fields): Sql => {
  const parameters = newParameters('o')
  const terms = orderTerms(order, fields, parameters)
  return raw([...terms, 'id ASC'].join(', '), parameters.all())
}

/** @throws UnknownField */
export const pageSql = ({ order, limit, offset }: Page, fields: Fields): Sql => {
  const limited = limit === null ? sql`` : sql`LIMIT ${typed('UInt64', limit)}`
  return sql`ORDER BY ${orderSql(order, fields)} ${limited} OFFSET ${typed('UInt64', offset ?? 0)}`
}
