import type { SqlParameter } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { Operation } from '../../domain/query/expression.js'
import { compileCondition, JSON_SETTINGS } from '../expression/compile.js'
import { orderTerms, type OrderBy } from '../expression/order.js'
import { newParameters } from '../expression/parameters.js'
import { CALL_COLUMNS, callFields } from './call-fields.js'
import { condition, type CallsFilter } from './filter.js'
import { narrowing } from './narrowing.js'

/** Which calls of a project are meant, as they stood at a position. */
export interface CallsAsked {
  readonly projectId: string
  readonly filter: CallsFilter | null
  readonly operation: Operation | null
  readonly position: Position
}

export interface Selection {
  /** `FROM` and `WHERE`, over the columns `call_…`. */
  readonly sql: string
  /** Terms for `ORDER BY`. */
  readonly order: readonly string[]
  readonly parameters: Readonly<Record<string, SqlParameter>>
}

export const SETTINGS = `SETTINGS ${JSON_SETTINGS}`

/**
 * The calls that a filter and an operation both select. It is to be read with {@link SETTINGS}.
 *
 * @throws UnknownField
 */
export const selection = (
  { projectId, filter, operation, position }: CallsAsked,
  sortBy: readonly OrderBy[] = [],
): Selection => {
  const { fields, joins } = callFields()
  const ordering = newParameters('o')
  const order = orderTerms(sortBy, fields, ordering)
  const selected = operation === null ? undefined : compileCondition(operation, fields)
  const there = condition(projectId, filter, position, operation === null ? {} : narrowing(operation))
  return {
    sql: `FROM (SELECT ${CALL_COLUMNS} FROM calls FINAL WHERE ${there.sql}) AS selected
      ${joins()} ${selected === undefined ? '' : `WHERE ${selected.sql}`}`,
    order,
    parameters: { ...there.parameters, ...selected?.parameters, ...ordering.all() },
  }
}
