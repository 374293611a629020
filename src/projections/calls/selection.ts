import type { Instant } from '../../domain/codec/instant.js'
import type { SqlParameter } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { Operation } from '../../domain/query/expression.js'
import { dateTime64 } from '../clickhouse-values.js'
import { compileCondition } from '../expression/compile.js'
import { comesAfter, orderKeys, termOf, type OrderBy } from '../expression/order.js'
import { newParameters } from '../expression/parameters.js'
import { JSON_SETTINGS } from '../expression/readable-json.js'
import { callFields, columnsIn } from './call-fields.js'
import { condition, type CallsFilter, type Condition } from './filter.js'
import { narrowing } from './narrowing.js'
import { ofTheStart, START_FIELDS } from './of-the-start.js'

/** Which calls of a project are meant, as they stood at a position. */
export interface CallsAsked {
  readonly projectId: string
  readonly filter: CallsFilter | null
  readonly operation: Operation | null
  readonly position: Position
  /** Only those that began at `from` or later, and before `to`. */
  readonly began?: Range
}

interface Range {
  readonly from: Instant
  readonly to: Instant
}

export interface Selection {
  /** `SELECT`, `FROM` and `WHERE`; it may begin with a `WITH`. */
  readonly sql: string
  /** Terms for `ORDER BY`, which tell any two calls apart. */
  readonly order: readonly string[]
  readonly parameters: Readonly<Record<string, SqlParameter>>
}

export const SETTINGS = `SETTINGS ${JSON_SETTINGS}`

/**
 * Columns, `call_…`, of the calls that a filter and an operation both select; where an id is given, only of those
 * that come after that call. It is to be read with {@link SETTINGS}.
 *
 * @throws UnknownField
 */
export const selection = (
  columns: string,
  { projectId, filter, operation, position, began }: CallsAsked,
  sortBy: readonly OrderBy[] = [],
  after?: string,
): Selection => {
  const { fields, joins } = callFields()
  const selected = operation === null ? undefined : compileCondition(operation, fields)
  const ordering = newParameters('o')
  const asked = orderKeys(sortBy, fields, ordering)
  const order = sortBy.some(({ field }) => field === 'id') ? asked : [...asked, BY_ID]
  const early = operation === null ? undefined : ofTheStart(operation)
  const ofStarts = early === undefined ? undefined : compileCondition(early, START_FIELDS, 's')
  const narrowed = operation === null ? {} : narrowing(operation)
  const there = condition(projectId, filter, position, narrowed, ofStarts?.sql)
  const inTime = began === undefined ? ANY_TIME : inRange(began)
  const conditions = [
    ...(selected === undefined ? [] : [selected.sql]),
    ...(after === undefined ? [] : [comesAfter(order, 'last_call')]),
  ]
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  const keys = order.map(({ sql }) => sql).join(', ')
  const rows = (outer: string, inner: string) =>
    `(SELECT ${columnsIn([outer, joins(), keys, 'call_id'].join(' '))} FROM calls FINAL WHERE ${inner})
      AS selected ${joins()}`
  const last = `WITH (SELECT tuple(${keys}) FROM ${rows('', LAST_CALL)}) AS last_call`
  const inner = `${there.sql} ${inTime.sql}`
  return {
    sql: `${after === undefined ? '' : last} SELECT ${columns} FROM ${rows(`${columns} ${where}`, inner)} ${where}`,
    order: order.map(termOf),
    parameters: {
      ...{ ...there.parameters, ...inTime.parameters, ...(after === undefined ? {} : { after }) },
      ...{ ...ofStarts?.parameters, ...selected?.parameters, ...ordering.all() },
    },
  }
}

const BY_ID = { sql: 'call_id', direction: 'asc' } as const

const LAST_CALL = 'project_id = {project:String} AND id = {after:String}'

const ANY_TIME: Condition = { sql: '', parameters: {} }

const inRange = ({ from, to }: Range): Condition => ({
  sql: "AND started_at >= {from:DateTime64(6, 'UTC')} AND started_at < {to:DateTime64(6, 'UTC')}",
  parameters: { from: dateTime64(from), to: dateTime64(to) },
})
