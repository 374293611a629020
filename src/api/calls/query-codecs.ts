import type * as t from 'io-ts'
import { describedAs } from '../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { boolean, oneOf, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { fieldName, fieldPath } from '../../domain/query/field-path.js'
import { query } from '../../domain/query/query.js'
import { isCallField } from '../../projections/calls/fields.js'
import type { OrderBy } from '../../projections/expression/order.js'
import { Failure, invalidField } from '../../application/failure.js'
import { callsFilter } from '../../application/calls/filter.js'

export const off = withDefault(boolean, false, true)

const sortField = describedAs(fieldName, {
  description: 'A field of a call, or a value inside one, as a dotted path.',
  examples: ['started_at', 'wb_run_step', 'inputs.question', 'summary.weave.latency_ms', 'usage.total_cost'],
})
const sortBy = closed('CallSortBy', { required: { field: sortField, direction: oneOf('asc', 'desc') } })

const column = describedAs(fieldName, {
  description: 'A key of a call; a nested key selects its top-level key.',
  examples: ['id', 'inputs', 'output', 'summary', 'summary.usage', 'attributes_dump'],
})

export const callsQuery = closed('CallsQueryRequest', {
  required: { project_id: projectId },
  optional: {
    filter: nullable(callsFilter),
    limit: nullable(wholeNumber),
    offset: nullable(wholeNumber),
    latest_only: off,
    sort_by: nullable(arrayOf(sortBy)),
    query: nullable(query),
    include_costs: off,
    include_feedback: off,
    include_usage: off,
    include_storage_size: off,
    include_total_storage_size: off,
    include_usernames: off,
    columns: nullable(arrayOf(column)),
    expand_columns: nullable(arrayOf(fieldName)),
    return_expanded_column_values: withDefault(boolean, true, true),
  },
})
export type CallsQuery = t.TypeOf<typeof callsQuery>

export const callsStats = closed('CallsQueryStatsRequest', {
  required: { project_id: projectId },
  optional: {
    filter: nullable(callsFilter),
    query: nullable(query),
    limit: nullable(wholeNumber),
    include_total_storage_size: off,
    expand_columns: nullable(arrayOf(fieldName)),
  },
})

export const callRead = closed('CallReadRequest', {
  required: { project_id: projectId, id: string },
  optional: { include_costs: off, include_storage_size: off, include_total_storage_size: off },
})

const NOT_SERVED = ['latest_only'] as const

/** Refuses unsupported options instead of ignoring them. */
export const refuseUnsupported = (
  body: Readonly<Partial<Record<(typeof NOT_SERVED)[number], unknown>>>,
): void => {
  for (const field of NOT_SERVED) {
    const value = body[field]
    const isOff =
      value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0)
    if (!isOff)
      throw invalidField([field], 'value_error', `Value error, ${field} is not supported yet: omit it`)
  }
}

const MAX_SORT_FIELDS = 32
/** The total over all fields, because ClickHouse limits the size of an expression. */
const MAX_SORT_PARTS = 256

/** The default order is by start; an empty list orders by id. If a field is repeated, its first occurrence counts. */
export const sortingOf = (sortBy: CallsQuery['sort_by']): readonly OrderBy[] => {
  if (sortBy === null) return [{ field: 'started_at', direction: 'asc' }]
  const order = new Map<string, OrderBy>()
  for (const [index, one] of sortBy.entries()) {
    if (order.has(one.field)) continue
    requireSortable(one.field, index)
    order.set(one.field, one)
  }
  if (order.size > MAX_SORT_FIELDS) {
    const rule = `List should have at most ${MAX_SORT_FIELDS} different fields`
    throw invalidField(['sort_by'], 'too_long', rule)
  }
  const parts = [...order.keys()].reduce((sum, field) => sum + fieldPath(field).length, 0)
  if (parts > MAX_SORT_PARTS) {
    const rule = `Field names should have at most ${MAX_SORT_PARTS} parts in total`
    throw invalidField(['sort_by'], 'too_long', rule)
  }
  return [...order.values()]
}

const requireSortable = (field: string, index: number): void => {
  if (!isCallField(field))
    throw new Failure(
      'forbidden',
      `Field sort_by.${index}.field is not allowed: calls have no field of this name.`,
    )
}

const ALWAYS = ['id', 'project_id', 'trace_id', 'op_name', 'started_at']
const WITH_SUMMARY = ['ended_at', 'exception', 'display_name']

/** Selects the requested columns. A nested name selects its root column, and costs need the summary. */
export const requestedColumns = ({
  columns,
  include_costs,
}: Pick<CallsQuery, 'columns' | 'include_costs'>): ((column: string) => boolean) => {
  if (columns === null || columns.length === 0) return () => true
  const wanted = new Set([...ALWAYS, ...columns.map((column) => fieldPath(column)[0].replace(/_dump$/, ''))])
  if (columns.some((column) => column.startsWith('otel_dump'))) wanted.add('otel_dump')
  if (include_costs) wanted.add('summary')
  if (wanted.has('summary')) WITH_SUMMARY.forEach((column) => wanted.add(column))
  return (column) => wanted.has(column)
}
