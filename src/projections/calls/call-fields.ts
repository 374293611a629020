import { fieldPath } from '../../domain/query/field-path.js'
import { UnknownField } from '../../domain/query/unknown-field.js'
import { columnValue, fieldValue, type Column, type Derived, type Fields } from '../expression/fields.js'
import { newParameters } from '../expression/parameters.js'
import { readableJson } from '../expression/readable-json.js'
import { feedbackFields } from './feedback-fields.js'
import { BYTES, FIELDS, OUTPUT_REFS } from './stored-call.js'

const list = (lines: string): string =>
  `toJSONString(arrayFilter(ref -> ref != '', splitByChar('\\n', ifNull(${lines}, ''))))`

const MILLISECONDS = `intDiv(toUnixTimestamp64Micro(${FIELDS.ended_at}) - toUnixTimestamp64Micro(started_at), 1000)`

/** The fields of calls as columns of a table to select from, as they stood at a position, a parameter. */
const COLUMNS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(FIELDS).map(([field, sql]) => [`call_${field}`, sql])),
  call_attributes: readableJson(FIELDS.attributes, 'start_is_wide'),
  call_inputs: readableJson(FIELDS.inputs, 'start_is_wide'),
  call_otel_dump: readableJson(FIELDS.otel_dump, 'start_is_wide'),
  call_output: readableJson(FIELDS.output, 'end_is_wide'),
  call_summary: readableJson(FIELDS.summary, 'end_is_wide'),
  call_start_is_wide: 'start_is_wide',
  call_end_is_wide: 'end_is_wide',
  call_bytes: BYTES,
  call_input_refs: list('input_refs'),
  call_output_refs: list(OUTPUT_REFS),
  call_latency_ms: MILLISECONDS,
  call_trace_name: `ifNull(${FIELDS.display_name}, op)`,
}

/** Those columns that SQL speaks of: the engine takes time to understand each, also where it is not read. */
export const columnsIn = (sql: string): string =>
  Object.entries(COLUMNS)
    .filter(([column]) => sql.includes(column))
    .map(([column, of]) => `${of} AS ${column}`)
    .join(', ')

const text = (field: string): Column => ({ kind: 'text', sql: `call_${field}` })
const number = (field: string): Column => ({ kind: 'number', sql: `call_${field}` })
const instant = (field: string): Column => ({ kind: 'instant', sql: `call_${field}` })
const ofStart = (field: string): Column => ({
  kind: 'json',
  sql: `call_${field}`,
  isWide: 'call_start_is_wide',
})
const ofEnd = (field: string): Column => ({ kind: 'json', sql: `call_${field}`, isWide: 'call_end_is_wide' })

const texts = [
  ...['project_id', 'id', 'trace_id', 'parent_id', 'thread_id', 'turn_id', 'op_name'],
  ...['exception', 'wb_user_id', 'wb_run_id', 'display_name'],
]

/** As the reading of a call derives it: see `src/api/tracing/call-json.ts`. It is no column, since it reads JSON. */
const STATUS = `multiIf(call_exception IS NOT NULL, 'error', call_ended_at IS NULL, 'running',
  JSONType(call_summary, 'status_counts', 'error') IN ('Int64', 'UInt64', 'Double')
    AND JSONExtractFloat(call_summary, 'status_counts', 'error') > 0, 'descendant_error', 'success')`

const OF_WEAVE: Readonly<Record<string, Column>> = {
  status: { kind: 'text', sql: STATUS },
  latency_ms: number('latency_ms'),
  trace_name: text('trace_name'),
  display_name: text('display_name'),
}

/** The summary as written, but for what is derived under `weave`. */
const summary: Derived = {
  kind: 'derived',
  value: (name, parameters) => {
    const [, weave, member, ...more] = fieldPath(name)
    const isDerived = weave === 'weave' && member !== undefined && Object.hasOwn(OF_WEAVE, member)
    if (isDerived) return columnValue(OF_WEAVE[member]!, more, parameters)
    return columnValue(ofEnd('summary'), fieldPath(name).slice(1), parameters)
  },
}

/** A list of references, as a whole. */
const refs = (field: string): Derived => ({
  kind: 'derived',
  value: (name, parameters) =>
    name === field
      ? columnValue({ kind: 'json', sql: `call_${field}`, isWide: '0' }, [], parameters)
      : undefined,
})

const NEVER_DELETED: Column = { kind: 'instant', sql: `CAST(NULL, 'Nullable(DateTime64(6, \\'UTC\\'))')` }

const FIXED: Fields = {
  ...Object.fromEntries(texts.map((field) => [field, text(field)])),
  started_at: instant('started_at'),
  ended_at: instant('ended_at'),
  deleted_at: NEVER_DELETED,
  wb_run_step: number('wb_run_step'),
  wb_run_step_end: number('wb_run_step_end'),
  storage_size_bytes: number('bytes'),
  input_refs: refs('input_refs'),
  output_refs: refs('output_refs'),
  otel_dump: ofStart('otel_dump'),
  attributes: ofStart('attributes'),
  attributes_dump: ofStart('attributes'),
  inputs: ofStart('inputs'),
  inputs_dump: ofStart('inputs'),
  output: ofEnd('output'),
  output_dump: ofEnd('output'),
  summary,
  summary_dump: summary,
}

const TOTALS = `LEFT JOIN (
    SELECT trace_id AS trace, toNullable(sum(${BYTES})) AS bytes FROM calls FINAL
    WHERE project_id = {project:String} AND started_position <= {position:UInt64}
      AND (deleted_position IS NULL OR deleted_position > {position:UInt64})
    GROUP BY trace_id
  ) AS total ON total.trace = call_trace_id`

export interface CallFields {
  readonly fields: Fields
  /** What has to be joined to the calls for the fields that were asked for. */
  readonly joins: () => string
}

/** What queries may ask of calls, for one statement. */
export const callFields = (): CallFields => {
  const feedback = feedbackFields()
  let isTotalAsked = false
  const total: Derived = {
    kind: 'derived',
    value: (name, parameters) => {
      if (name !== 'total_storage_size_bytes') return undefined
      isTotalAsked = true
      const sql = 'if(call_parent_id IS NULL, total.bytes, NULL)'
      return columnValue({ kind: 'number', sql }, [], parameters)
    },
  }
  return {
    fields: { ...FIXED, total_storage_size_bytes: total, feedback: feedback.field },
    joins: () => [isTotalAsked ? TOTALS : '', ...feedback.joins()].join(' '),
  }
}

/** Whether queries may ask for a field of this name. */
export const isCallField = (name: string): boolean => {
  try {
    fieldValue(callFields().fields, name, newParameters())
    return true
  } catch (error) {
    if (error instanceof UnknownField) return false
    throw error
  }
}
