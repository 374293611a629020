import { fieldValue, type Fields } from './fields.js'
import type { Parameters } from './parameters.js'
import { asNumber, asText, type Value } from './value.js'

export interface OrderBy {
  readonly field: string
  readonly direction: 'asc' | 'desc'
}

/** What rows are ordered by: Nullable SQL of numbers, text, truths or instants. */
export interface OrderKey {
  readonly sql: string
  readonly direction: 'asc' | 'desc'
}

/**
 * Keys to order by. Within JSON numbers come before other text.
 *
 * @throws UnknownField
 */
export const orderKeys = (
  order: readonly OrderBy[],
  fields: Fields,
  parameters: Parameters,
): readonly OrderKey[] =>
  order.flatMap(({ field, direction }) =>
    keysOf(fieldValue(fields, field, parameters)).map((sql) => ({ sql, direction })),
  )

/** What has no value comes last in both directions. */
export const termOf = ({ sql, direction }: OrderKey): string => `${sql} ${direction.toUpperCase()} NULLS LAST`

/**
 * Terms for ORDER BY.
 *
 * @throws UnknownField
 */
export const orderTerms = (
  order: readonly OrderBy[],
  fields: Fields,
  parameters: Parameters,
): readonly string[] => orderKeys(order, fields, parameters).map(termOf)

/** Whether a row comes after another one, of which the keys' values are a tuple. */
export const comesAfter = (keys: readonly OrderKey[], other: string): string => {
  const signs = keys.map(({ sql, direction }, index) => {
    const value = `tupleElement(${other}, ${index + 1})`
    const isBeyond = `${sql} ${direction === 'asc' ? '>' : '<'} ${value}`
    return `multiIf(ifNull(${isBeyond}, ${sql} IS NULL AND ${value} IS NOT NULL), 1,
      ifNull(${sql} = ${value}, ${sql} IS NULL AND ${value} IS NULL), 0, -1)`
  })
  return `arrayFirst(sign -> sign != 0, [${signs.join(', ')}]) > 0`
}

const keysOf = (value: Value): readonly string[] => {
  if (value.type === 'nothing') return []
  return value.type === 'json' ? [asNumber(value), asText(value)] : [value.sql]
}
