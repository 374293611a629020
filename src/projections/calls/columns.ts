import type { Instant } from '../../kernel/codec/instant.js'
import type { Json } from '../../kernel/json/json.js'
import type { JsonText } from '../../kernel/ports/clickhouse.js'

interface CallColumn {
  readonly type: string
  /** The event that brings the value. `key` columns are part of every row of a call. */
  readonly from: 'key' | 'start' | 'end' | 'any'
  /** How queries read it; absent for columns that only the projection and the conditions use. */
  readonly kind?: 'text' | 'number' | 'instant' | 'json'
  /** Every call has a value. */
  readonly isRequired?: true
  /** For columns with content: what an erasure leaves of a value, in SQL. Rows of erased events bring figures back. */
  readonly erased?: string
  /** JSON text that a query may leave unread. */
  readonly isPayload?: true
}

/**
 * The columns of `calls` with values of events: its table, inserts, reads as of a position, `$expr` fields and digests are
 * derived from this list. Log positions let reads as of a position leave out what came later. Their codec, and that of the
 * project, make counting cheap.
 */
export const CALL_COLUMNS = {
  project_id: { type: 'LowCardinality(String)', from: 'key', kind: 'text', isRequired: true },
  started_at: {
    type: "DateTime64(6, 'UTC') CODEC(Delta, LZ4)",
    from: 'key',
    kind: 'instant',
    isRequired: true,
  },
  id: { type: 'String', from: 'key', kind: 'text', isRequired: true },
  op_name: { type: 'LowCardinality(Nullable(String))', from: 'start', kind: 'text', isRequired: true },
  op: { type: 'LowCardinality(Nullable(String))', from: 'start' },
  display_name: { type: 'Nullable(String)', from: 'start', kind: 'text' },
  names: { type: 'SimpleAggregateFunction(groupUniqArrayArray, Array(Tuple(UInt64, String)))', from: 'any' },
  trace_id: { type: 'Nullable(String)', from: 'start', kind: 'text', isRequired: true },
  parent_id: { type: 'Nullable(String)', from: 'start', kind: 'text' },
  thread_id: { type: 'Nullable(String)', from: 'start', kind: 'text' },
  turn_id: { type: 'Nullable(String)', from: 'start', kind: 'text' },
  ended_at: { type: "Nullable(DateTime64(6, 'UTC'))", from: 'end', kind: 'instant' },
  end_status: { type: 'LowCardinality(Nullable(String))', from: 'end' },
  exception: { type: 'Nullable(String)', from: 'end', kind: 'text', erased: "'erased'" },
  attributes: { type: 'Nullable(String)', from: 'start', kind: 'json', isPayload: true, erased: "'{}'" },
  inputs: { type: 'Nullable(String)', from: 'start', kind: 'json', isPayload: true, erased: "'{}'" },
  output: { type: 'Nullable(String)', from: 'end', kind: 'json', isPayload: true, erased: "'null'" },
  summary: { type: 'Nullable(String)', from: 'end', kind: 'json', isPayload: true, erased: "'{}'" },
  otel_dump: { type: 'Nullable(String)', from: 'start', kind: 'json', isPayload: true, erased: 'NULL' },
  input_refs: { type: 'Nullable(String)', from: 'start', erased: 'NULL' },
  output_refs: { type: 'Nullable(String)', from: 'end', erased: 'NULL' },
  wb_user_id: { type: 'LowCardinality(Nullable(String))', from: 'start', kind: 'text' },
  wb_run_id: { type: 'Nullable(String)', from: 'start', kind: 'text' },
  wb_run_step: { type: 'Nullable(Int64)', from: 'start', kind: 'number' },
  wb_run_step_end: { type: 'Nullable(Int64)', from: 'end', kind: 'number' },
  /** Whether the content was erased: clients may write the mark that readers see. */
  is_erased: { type: 'Nullable(UInt8)', from: 'start' },
  started_position: { type: 'Nullable(UInt64) CODEC(Delta, LZ4)', from: 'any' },
  ended_position: { type: 'Nullable(UInt64) CODEC(Delta, LZ4)', from: 'any' },
  deleted_position: { type: 'SimpleAggregateFunction(min, Nullable(UInt64)) CODEC(Delta, LZ4)', from: 'any' },
} as const satisfies Readonly<Record<string, CallColumn>>

type Columns = typeof CALL_COLUMNS
export type CallColumnName = keyof Columns

export const columnNames = Object.keys(CALL_COLUMNS) as readonly CallColumnName[]

const columnsWhere = (test: (column: CallColumn) => boolean): readonly CallColumnName[] =>
  columnNames.filter((name) => test(CALL_COLUMNS[name]))

export const columnsFrom = (from: CallColumn['from']): readonly CallColumnName[] =>
  columnsWhere((column) => column.from === from)

/** A field of a call, with the values of its columns as queries read them: payload is JSON text. */
export type CallField = {
  [Name in CallColumnName]: Columns[Name] extends { kind: string } ? Name : never
}[CallColumnName]

type FieldValue<Column> = Column extends { kind: 'instant' }
  ? Instant
  : Column extends { kind: 'number' }
    ? number
    : string

export type StoredCall = {
  readonly [Name in CallField]: Columns[Name] extends { isRequired: true }
    ? FieldValue<Columns[Name]>
    : FieldValue<Columns[Name]> | null
}

export const callFields = columnsWhere(({ kind }) => kind !== undefined) as readonly CallField[]

export type PayloadColumn = {
  [Name in CallColumnName]: Columns[Name] extends { isPayload: true } ? Name : never
}[CallColumnName]

export const PAYLOAD = columnsWhere(({ isPayload }) => isPayload === true) as readonly PayloadColumn[]

/** NULL as of a position before the end. */
export const endAsOf = (column: string): string => `if(ended_position <= {position:UInt64}, ${column}, NULL)`

const NAMES = 'arrayFilter(naming -> naming.1 <= {position:UInt64}, names)'

/** A column as of `{position:UInt64}`. A name that was removed is stored as an empty one. */
export const columnAsOf = (name: CallColumnName): string => {
  if (name === 'display_name')
    return `if(empty(${NAMES}), display_name, nullIf(arrayReverseSort(${NAMES})[1].2, ''))`
  return CALL_COLUMNS[name].from === 'end' ? endAsOf(name) : name
}

/** Bytes of the payload's JSON. */
export const BYTES = `ifNull(start_bytes, 0) + ifNull(${endAsOf('end_bytes')}, 0)`

/** A name given to a call, and the log position of the renaming, in digits. */
export type Naming = readonly [position: string, name: string]

/** A row to insert, in the order of the columns. Null, and an empty list of names, leave a column unchanged. */
export type CallRow = Partial<Record<CallColumnName, Json | JsonText>>

export const rowValues = (row: CallRow): readonly (Json | JsonText)[] =>
  columnNames.map((name) => row[name] ?? (name === 'names' ? [] : null))
