import type { CallEvent } from '../../domain/call/events.js'
import { asText, dateTime64, int64, payloadText } from '../clickhouse-values.js'
import type { ProjectedEvent, Projection } from '../projection.js'
import { AT, CALL_COLUMNS, emptyCallRow, type CallRow, type Naming } from './call-row.js'
import { refsIn } from './refs.js'

type Positioned = CallEvent & Pick<ProjectedEvent, 'position'>

/** Call events to rows of `calls`: what happened to one call within a batch becomes one row. */
export const callsProjection: Projection = {
  name: 'calls',
  rowsOf: (events) => {
    const rows = new Map<string, CallRow>()
    for (const event of events as readonly Positioned[]) applyTo(rows, event)
    if (rows.size === 0) return []
    return [{ table: 'calls', columns: CALL_COLUMNS, values: [...rows.values()] }]
  },
}

const applyTo = (rows: Map<string, CallRow>, { type, data, position }: Positioned): void => {
  switch (type) {
    case 'CallStarted': {
      const row = rowOf(rows, data)
      row[AT.op_name] = data.op_name
      row[AT.display_name] = data.display_name
      row[AT.trace_id] = data.trace_id
      row[AT.parent_id] = data.parent_id
      row[AT.thread_id] = data.thread_id
      row[AT.turn_id] = data.turn_id
      row[AT.started_at] = dateTime64(data.started_at)
      row[AT.attributes] = payloadText(data.attributes)
      row[AT.inputs] = payloadText(data.inputs)
      row[AT.otel_dump] = data.otel_dump && payloadText(data.otel_dump)
      row[AT.input_refs] = refsIn(data.inputs)
      row[AT.wb_user_id] = data.wb_user_id
      row[AT.wb_run_id] = data.wb_run_id
      row[AT.wb_run_step] = data.wb_run_step === null ? null : int64(data.wb_run_step)
      row[AT.started_position] = String(position)
      return
    }
    case 'CallEnded': {
      const row = rowOf(rows, data)
      row[AT.ended_at] = dateTime64(data.ended_at)
      row[AT.exception] = data.exception
      row[AT.output] = asText(data, 'output')
      row[AT.summary] = payloadText(data.summary)
      row[AT.output_refs] = refsIn(data.output)
      row[AT.wb_run_step_end] = data.wb_run_step_end === null ? null : int64(data.wb_run_step_end)
      row[AT.ended_position] = String(position)
      return
    }
    case 'CallRenamed':
      named(rowOf(rows, data), [String(position), data.display_name ?? ''])
      return
    case 'CallDeleted':
      rowOf(rows, data)[AT.deleted_position] = String(position)
      return
    case 'ConflictingCallStartReported':
    case 'ConflictingCallEndReported':
      return
  }
}

const named = (row: CallRow, naming: Naming): void => {
  row[AT.names] = [...(row[AT.names] as readonly Naming[]), naming]
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
