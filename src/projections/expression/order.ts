import { joined, raw, sql, type Sql } from '../sql.js'
import { fieldValue, type Fields } from './fields.js'
import { asNumber, asText, firstOf, type Value } from './value.js'

export interface OrderBy {
  readonly field: string
  readonly direction: 'asc' | 'desc'
}

/**
 * Terms for ORDER BY, and last some of the statement. Missing values come last in both directions; within JSON numbers come
 * before other text.
 *
 * @throws UnknownField
 */
export const orderSql = (order: readonly OrderBy[], fields: Fields, last = 'id ASC'): Sql =>
  joined([
    ...order.flatMap(({ field, direction }) =>
      keysOf(fieldValue(fields, field)).map((key) => sql`${key} ${raw(direction.toUpperCase())} NULLS LAST`),
    ),
    ...(last === '' ? [] : [raw(last)]),
  ])

/** Nullable SQL of numbers, text, truths or instants. */
const keysOf = (value: Value): readonly Sql[] => {
  if (value.type === 'nothing') return []
  if (value.type === 'several') return keysOf(firstOf(value))
  return value.type === 'json' ? [asNumber(value), inOrder(asText(value))] : [value.sql]
}

/** Orders whole numbers of the same Float64 by all of their digits. */
const inOrder = (text: Sql): Sql =>
  sql`arrayMap(t -> if(match(t, '^-?[0-9]{16,75}$'), leftPad(toString(toInt256OrZero(t) + toInt256('${BIAS}')), 77, '0'), t), [${text}])[1]`

const BIAS = raw(`1${'0'.repeat(76)}`)
