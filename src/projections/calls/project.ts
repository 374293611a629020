import type { CallEvent } from '../../domain/call/events.js'
import type { Json } from '../../domain/json/json.js'
import { dateTime64 } from '../clickhouse-values.js'
import type { ProjectedEvent, Projection } from '../projection.js'
import { CALL_COLUMNS, emptyCallRow, type CallRow } from './call-row.js'
import { refsIn } from './refs.js'

type Positioned = CallEvent & Pick<ProjectedEvent, 'position'>

/** Call events to rows of `calls`: what happened to one call within a batch becomes one row. */
export const callsProjection: Projection = {
  name: 'calls',
  rowsOf: (events) => {
    const rows = new Map<string, CallRow>()
    for (const event of events as readonly Positioned[]) applyTo(rows, event)
    if (rows.size === 0) return []
    const values = [...rows.values()].map((row) => CALL_COLUMNS.map((column) => row[column]))
    return [{ table: 'calls', columns: CALL_COLUMNS, values }]
  },
}

const applyTo = (rows: Map<string, CallRow>, { type, data, position }: Positioned): void => {
  switch (type) {
    case 'CallStarted': {
      const row = rowOf(rows, data)
      row.op_name = data.op_name
      row.display_name = data.display_name
      row.trace_id = data.trace_id
      row.parent_id = data.parent_id
      row.thread_id = data.thread_id
      row.turn_id = data.turn_id
      row.started_at = dateTime64(data.started_at)
      row.attributes = data.attributes ?? 'null'
      row.inputs = data.inputs ?? 'null'
      row.otel_dump = data.otel_dump
      row.input_refs = refsIn(data.inputs)
      row.wb_user_id = data.wb_user_id
      row.wb_run_id = data.wb_run_id
      row.wb_run_step = data.wb_run_step === null ? null : int64(data.wb_run_step)
      row.started_position = String(position)
      return
    }
    case 'CallEnded': {
      const row = rowOf(rows, data)
      row.ended_at = dateTime64(data.ended_at)
      row.exception = data.exception
      row.output = asText(data.output)
      row.summary = data.summary ?? 'null'
      row.output_refs = refsIn(data.output)
      row.wb_run_step_end = data.wb_run_step_end === null ? null : int64(data.wb_run_step_end)
      row.ended_position = String(position)
      return
    }
    case 'CallRenamed':
      rowOf(rows, data).renamed = data.display_name ?? ''
      return
    case 'CallDeleted':
      rowOf(rows, data).deleted_position = String(position)
      return
    case 'ConflictingCallStartReported':
    case 'ConflictingCallEndReported':
      return
  }
}

const rowOf = (
  rows: Map<string, CallRow>,
  data: { readonly project_id: string; readonly id: string },
): CallRow => {
  const key = `${data.project_id}/${data.id}`
  let row = rows.get(key)
  if (row === undefined) {
    row = emptyCallRow(data.project_id, data.id)
    rows.set(key, row)
  }
  return row
}

/** An object or a list is taken over as its text; a plain value has to be made into text first. */
const asText = (value: Json): Json =>
  typeof value === 'object' && value !== null ? value : JSON.stringify(value)

/** A double that is a 64-bit integer, in digits: JSON would write the largest ones rounded up, over the edge. */
const int64 = (value: number): string => BigInt(value).toString()
