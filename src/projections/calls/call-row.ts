import type { Json } from '../../domain/json/json.js'

/** The columns of `calls` in the order of its rows' values. */
export const CALL_COLUMNS = [
  'project_id',
  'id',
  'op_name',
  'display_name',
  'names',
  'trace_id',
  'parent_id',
  'thread_id',
  'turn_id',
  'started_at',
  'ended_at',
  'exception',
  'attributes',
  'inputs',
  'output',
  'summary',
  'otel_dump',
  'input_refs',
  'output_refs',
  'wb_user_id',
  'wb_run_id',
  'wb_run_step',
  'wb_run_step_end',
  'started_position',
  'ended_position',
  'deleted_position',
] as const

export type CallColumn = (typeof CALL_COLUMNS)[number]

/** Where each column stands in a row. */
export const AT = Object.fromEntries(CALL_COLUMNS.map((column, index) => [column, index])) as Readonly<
  Record<CallColumn, number>
>

/** What was said of a call's name: at which log position, in digits, and the name, empty where it was taken back. */
export type Naming = readonly [position: string, name: string]

/**
 * The values of a row; null leaves a column as it was, and so does a list of no names. Payload columns hold JSON itself: within the row it is inserted
 * as text, without being quoted a second time.
 */
export type CallRow = Json[]

export const emptyCallRow = (projectId: string, id: string): CallRow => {
  const row = new Array<Json>(CALL_COLUMNS.length).fill(null)
  row[AT.project_id] = projectId
  row[AT.id] = id
  row[AT.names] = []
  return row
}
