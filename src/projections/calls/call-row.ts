import type { Json } from '../../domain/json/json.js'

/** The columns of `calls` in the order of its rows' values; null leaves a column as it was. */
export const CALL_COLUMNS = [
  'project_id',
  'id',
  'op_name',
  'display_name',
  'renamed',
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

/** Payload columns hold JSON itself: within the row it is inserted as text, without being quoted a second time. */
type PayloadColumn = 'attributes' | 'inputs' | 'output' | 'summary' | 'otel_dump'

export type CallRow = Record<Exclude<CallColumn, PayloadColumn>, string | null> & Record<PayloadColumn, Json>

export const emptyCallRow = (projectId: string, id: string): CallRow => ({
  project_id: projectId,
  id,
  op_name: null,
  display_name: null,
  renamed: null,
  trace_id: null,
  parent_id: null,
  thread_id: null,
  turn_id: null,
  started_at: null,
  ended_at: null,
  exception: null,
  attributes: null,
  inputs: null,
  output: null,
  summary: null,
  otel_dump: null,
  input_refs: null,
  output_refs: null,
  wb_user_id: null,
  wb_run_id: null,
  wb_run_step: null,
  wb_run_step_end: null,
  started_position: null,
  ended_position: null,
  deleted_position: null,
})
