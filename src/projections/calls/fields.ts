import { fieldPath } from '../../domain/query/field-path.js'
import { UnknownField } from '../../domain/query/errors.js'
import { REF_SCHEME } from '../../domain/refs/ref.js'
import { columnValue, fieldValue, type Column, type Derived, type Fields } from '../expression/fields.js'
import { textAtKeys, textAtShort } from '../expression/json.js'
import { readableJson } from '../expression/readable-json.js'
import { joined, raw, sql, type Sql } from '../sql.js'
import { VISIBLE } from '../feedback/queries.js'
import { LIVE_QUEUES, QUEUE_FIELD } from '../annotation-queues/visible.js'
import { FEEDBACK_FIELDS, withReadable } from '../feedback/columns.js'
import { BYTES, CALL_COLUMNS, callFields, columnAsOf, endAsOf, type CallField } from './columns.js'
import { expandedFields, type Expansion } from './expansions.js'
import { usageField, type UsageJoin } from './usage-fields.js'

const isWide = (field: CallField): string => `${CALL_COLUMNS[field].from === 'end' ? 'end' : 'start'}_is_wide`

const listOf = (lines: string): string =>
  `toJSONString(arrayFilter(ref -> ref != '', splitByChar('\\n', ifNull(${lines}, ''))))`

/** Python puts the error at the end of a traceback, and `weave` for Python also writes it as JSON. */
const messageSql = (exception: string): string =>
  `multiIf(startsWith(${exception}, 'Traceback'), splitByChar('\\n', trimRight(assumeNotNull(${exception}), ' \\n'))[-1],
    startsWith(${exception}, '{"type":'), concat(JSONExtractString(assumeNotNull(${exception}), 'type'), ': ', JSONExtractString(assumeNotNull(${exception}), 'message')),
    ${exception})`

/** The same for exceptions that differ in numbers alone, such as ids and durations. */
const errorSql = (exception: string): string =>
  `if(${exception} IS NULL, NULL, leftUTF8(replaceRegexpAll(splitByChar('\\n', assumeNotNull(${messageSql(exception)}))[1], '[0-9]+', '#'), 300))`

/** What queries select, by column name, as of `{position:UInt64}`. */
const SELECTED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    callFields.map((field) => [
      `call_${field}`,
      CALL_COLUMNS[field].kind === 'json'
        ? readableJson(columnAsOf(field), isWide(field))
        : columnAsOf(field),
    ]),
  ),
  call_start_is_wide: 'start_is_wide',
  call_end_is_wide: 'end_is_wide',
  call_bytes: BYTES,
  call_part: '_part_index',
  call_part_name: '_part',
  call_started_position: 'started_position',
  call_ended_position: 'ended_position',
  call_input_refs: listOf('input_refs'),
  call_output_refs: listOf(endAsOf('output_refs')),
  call_status: `ifNull(${endAsOf('end_status')}, 'running')`,
  call_latency_ms: `if(${endAsOf('ended_at')} < started_at, NULL, intDiv(toUnixTimestamp64Micro(${endAsOf('ended_at')}) - toUnixTimestamp64Micro(started_at), 1000))`,
  call_ended_before_start: `ifNull(${endAsOf('ended_at')} < started_at, false)`,
  call_trace_name: `ifNull(${columnAsOf('display_name')}, op)`,
  call_bare_op: 'op',
  call_error: errorSql(endAsOf('exception')),
}

/** The select list of the columns that some SQL uses; the engine analyses every column, whether used or not. */
export const columnsIn = ({ text }: Sql): Sql =>
  raw(
    Object.entries(SELECTED)
      .filter(([column]) => text.includes(column))
      .map(([column, value]) => `${value} AS ${column}`)
      .join(', '),
  )

const column = (kind: Column['kind'], name: string): Column => ({ kind, sql: `call_${name}` })

const ofWeave: Readonly<Record<string, Column>> = {
  status: column('text', 'status'),
  latency_ms: column('number', 'latency_ms'),
  trace_name: column('text', 'trace_name'),
  display_name: column('text', 'display_name'),
  op: column('text', 'bare_op'),
  error: column('text', 'error'),
}

const fieldOf = (field: CallField): Column => {
  const { kind } = CALL_COLUMNS[field]
  return kind === 'json' ? { ...column(kind, field), isWide: `call_${isWide(field)}` } : column(kind, field)
}

/** The summary as stored, except for the members that are derived under `weave`. */
const summary: Derived = {
  kind: 'derived',
  value: (name) => {
    const [, weave, member, ...more] = fieldPath(name)
    if (weave === 'weave' && member !== undefined && Object.hasOwn(ofWeave, member))
      return columnValue(ofWeave[member]!, more)
    return columnValue(fieldOf('summary'), fieldPath(name).slice(1))
  },
}

/** What programs call the user of the product and the environment in the attributes of a call, the usual names first. */
const NAMED_IN_ATTRIBUTES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  end_user: [['user', 'id'], ['user'], ['user_id'], ['enduser', 'id']],
  environment: [
    ['environment'],
    ['env'],
    ['deployment', 'environment', 'name'],
    ['deployment', 'environment'],
  ],
}

const isNamedInAttributes = (name: string): boolean => Object.hasOwn(NAMED_IN_ATTRIBUTES, name)

/** The keys of the attribute that the project names. */
const END_USER_KEYS = raw(`(SELECT argMax(path, position) FROM end_user_attributes
  WHERE project_id = {project:String} AND position <= {position:UInt64})`)
const ATTRIBUTES = raw('call_attributes')
const OWN_END_USER = textAtKeys(ATTRIBUTES, END_USER_KEYS)

/** The first of some attributes that has a value, in all projects after one that the project names. */
const ofAttributes = (field: string, own: readonly Sql[] = []): Derived => ({
  kind: 'derived',
  value: (name) => {
    if (name !== field) return undefined
    const usual = NAMED_IN_ATTRIBUTES[field]!.map((path) => textAtShort(ATTRIBUTES, path))
    return { type: 'text', sql: sql`coalesce(${joined([...own, ...usual])})` }
  },
})

/** A list of references, which has no parts. */
const refs = (field: string): Derived => ({
  kind: 'derived',
  value: (name) => (name === field ? columnValue({ ...column('json', field), isWide: '0' }) : undefined),
})

const withDump = (fields: Fields): Fields => ({
  ...fields,
  ...Object.fromEntries(
    ['attributes', 'inputs', 'output', 'summary'].map((name) => [`${name}_dump`, fields[name]!]),
  ),
})

const FIELDS: Fields = withDump({
  ...Object.fromEntries(callFields.map((field) => [field, fieldOf(field)])),
  summary,
  deleted_at: { kind: 'instant', sql: `CAST(NULL, 'Nullable(DateTime64(6, \\'UTC\\'))')` },
  storage_size_bytes: column('number', 'bytes'),
  input_refs: refs('input_refs'),
  output_refs: refs('output_refs'),
  end_user: ofAttributes('end_user', [OWN_END_USER]),
  environment: ofAttributes('environment'),
})

/** The event whose row alone has the value of a field; `key` for any row of the call, undefined for none. */
export const sourceOf = (name: string): 'key' | 'start' | 'end' | undefined => {
  const [field, weave, member] = fieldPath(name)
  if (isNamedInAttributes(name)) return 'start'
  const root = field.replace(/_dump$/, '')
  if (HAVE_DEFAULTS.has(root) || !Object.hasOwn(CALL_COLUMNS, root)) return undefined
  if (root === 'summary' && weave === 'weave' && NAMES.has(member)) return undefined
  return CALL_COLUMNS[root as CallField].from
}

const NAMES = new Set<string | undefined>(['trace_name', 'display_name', 'op'])
/** They have a value without the event that brings it. */
const HAVE_DEFAULTS = new Set(['display_name', 'output_refs'])

/** Sizes of traces, for roots. */
const TOTALS = raw(`LEFT JOIN (
    SELECT trace_id AS trace, toNullable(sum(${BYTES})) AS bytes FROM calls FINAL
    WHERE project_id = {project:String} AND started_position <= {position:UInt64}
      AND (deleted_position IS NULL OR deleted_position > {position:UInt64})
    GROUP BY trace_id
  ) AS total ON total.trace = call_trace_id`)

const QUEUES = sql`LEFT JOIN (
    SELECT call_id AS queued_call, CAST(groupUniqArray(queue_id), 'Array(Nullable(String))') AS ids
    FROM annotation_queue_items
    WHERE project_id = {project:String} AND position <= {position:UInt64} AND ${LIVE_QUEUES} GROUP BY queued_call
  ) AS queued ON queued.queued_call = call_id`

export interface StatementFields {
  readonly fields: Fields
  /** The joins that the fields used so far need, of calls in a range of the key. */
  readonly joins: (range?: readonly Sql[]) => Sql
}

/** The fields of calls for one statement; those of usage only with a join, those of referenced values with expansions. */
export const statementFields = (
  usage?: UsageJoin,
  expansions: readonly Expansion[] = [],
): StatementFields => {
  const feedback = feedbackFields()
  let needsUsage = false
  let needsTotals = false
  let needsQueues = false
  const total: Derived = {
    kind: 'derived',
    value: (name) => {
      if (name !== 'total_storage_size_bytes') return undefined
      needsTotals = true
      const sql = 'if(call_parent_id IS NULL, total.bytes, NULL)'
      return columnValue({ kind: 'number', sql })
    },
  }
  const queues: Derived = {
    kind: 'derived',
    value: (name) => {
      if (name !== QUEUE_FIELD) return undefined
      needsQueues = true
      return {
        type: 'several',
        list: 'if(empty(queued.ids), [NULL], queued.ids)',
        of: (item) => ({ type: 'text', sql: raw(item) }),
      }
    },
  }
  const fields: Fields = {
    ...FIELDS,
    ...expandedFields(() => fields, expansions),
    total_storage_size_bytes: total,
    annotation_queue_items: queues,
    feedback: feedback.field,
    ...(usage === undefined ? {} : { usage: usageField(() => (needsUsage = true)) }),
  }
  return {
    fields,
    joins: (range = []) =>
      joined(
        [
          ...(needsTotals ? [TOTALS] : []),
          ...(needsQueues ? [QUEUES] : []),
          ...feedback.joins(),
          ...(usage !== undefined && needsUsage
            ? [sql`LEFT JOIN ${usage(range)} AS inclusive ON inclusive.call_id = selected.call_id`]
            : []),
        ],
        ' ',
      ),
  }
}

/** Whether queries may name a field. */
export const isCallField = (name: string): boolean => {
  try {
    fieldValue(statementFields(() => sql``).fields, name)
    return true
  } catch (error) {
    if (error instanceof UnknownField) return false
    throw error
  }
}

interface FeedbackJoin {
  readonly alias: string
  readonly ofType: Sql
  readonly columns: Set<string>
}

const ANY_TYPE = '*'

/** `feedback.[type].field`: a field of all feedback of a type on a call, newest first; `*` for any type. */
const feedbackFields = () => {
  const joined = new Map<string, FeedbackJoin>()
  const field: Derived = {
    kind: 'derived',
    value: (name) => {
      const [, bracketed = '', root = '', ...path] = fieldPath(name)
      const type = /^\[(.+)\]$/s.exec(bracketed)?.[1]
      const column = Object.hasOwn(FEEDBACK_FIELDS, root) ? FEEDBACK_FIELDS[root] : undefined
      if (type === undefined || column === undefined) return undefined
      const of = (sql: string) => columnValue({ kind: column.kind, sql }, path)
      if (of('') === undefined) return undefined
      const join = joined.get(type) ?? {
        alias: `feedback_${joined.size}`,
        ofType: type === ANY_TYPE ? sql`` : sql`AND feedback_type = ${type}`,
        columns: new Set<string>(),
      }
      const values = `${join.alias}.all_${column.sql}`
      join.columns.add(column.sql)
      joined.set(type, join)
      return { type: 'several', list: `if(empty(${values}), [NULL], ${values})`, of: (item) => of(item)! }
    },
  }
  return { field, joins: () => [...joined.values()].map(feedbackJoin) }
}

/** Groups skip NULL, but no tuple that has one. */
const feedbackJoin = ({ alias, ofType, columns }: FeedbackJoin): Sql => {
  const all = [...columns].map(
    (column) =>
      `arrayMap(one -> one.3, arrayReverseSort(groupArray(tuple(created_at, id, toNullable(${column}))))) AS all_${column}`,
  )
  return sql`LEFT JOIN (
    ${raw(withReadable(all.join(' ')))} SELECT assumeNotNull(weave_ref) AS ref, ${raw(all.join(', '))} FROM feedback FINAL
    WHERE ${raw(VISIBLE)} AND weave_ref IS NOT NULL ${ofType} GROUP BY ref
  ) AS ${raw(alias)} ON ${raw(alias)}.ref = concat('${raw(REF_SCHEME)}', call_project_id, '/call/', call_id)`
}
