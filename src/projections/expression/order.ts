import { fieldValue, type Fields } from './fields.js'
import type { Parameters } from './parameters.js'
import { asNumber, asText, firstOf, type Value } from './value.js'

export interface OrderBy {
  readonly field: string
  readonly direction: 'asc' | 'desc'
}

/**
 * Terms for ORDER BY. Missing values come last in both directions; within JSON numbers come before other text.
 *
 * @throws UnknownField
 */
export const orderTerms = (order: readonly OrderBy[], fields: Fields, parameters: Parameters): string[] =>
  order.flatMap(({ field, direction }) =>
    keysOf(fieldValue(fields, field, parameters)).map(
      (sql) => `${sql} ${direction.toUpperCase()} NULLS LAST`,
    ),
  )

/** Nullable SQL of numbers, text, truths or instants. */
const keysOf = (value: Value): readonly string[] => {
  if (value.type === 'nothing') return []
  if (value.type === 'several') return keysOf(firstOf(value))
  return value.type === 'json' ? [asNumber(value), inOrder(asText(value))] : [value.sql]
}

/** Orders whole numbers of the same Float64 by all of their digits. */
const inOrder = (text: string): string =>
  `arrayMap(t -> if(match(t, '^-?[0-9]{16,75}$'), leftPad(toString(toInt256OrZero(t) + ${BIAS}), 77, '0'), t), [${text}])[1]`

const BIAS = `toInt256('1${'0'.repeat(76)}')`
