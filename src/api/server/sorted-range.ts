import type * as t from 'io-ts'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { oneOf, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed } from '../../kernel/codec/struct.js'
import { invalidField } from '../../application/failure.js'
import { fieldName } from '../../domain/query/field-path.js'
import type { OrderBy } from '../../projections/expression/order.js'

/** The part of a list that a request asks for. */
export const range = { limit: nullable(wholeNumber), offset: nullable(wholeNumber) }

export const sortBy = nullable(
  arrayOf(closed('SortBy', { required: { field: fieldName, direction: oneOf('asc', 'desc') } })),
)

const MAX_SORT_FIELDS = 8

/** If a field is repeated, its first occurrence counts. */
export const orderOf = (
  requested: t.TypeOf<typeof sortBy>,
  otherwise: readonly OrderBy[],
): readonly OrderBy[] => {
  if (requested === null) return otherwise
  const order = new Map<string, OrderBy>()
  for (const one of requested) if (!order.has(one.field)) order.set(one.field, one)
  if (order.size > MAX_SORT_FIELDS) {
    const rule = `List should have at most ${MAX_SORT_FIELDS} items after validation`
    throw invalidField(['sort_by'], 'too_long', rule)
  }
  return [...order.values()]
}
