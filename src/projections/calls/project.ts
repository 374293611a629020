import type { CallEnded, CallEvent } from '../../domain/calls/events.js'
import { opOf } from '../../domain/calls/op.js'
import { endStatus } from '../../domain/calls/status.js'
import type { Instant } from '../../kernel/codec/instant.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { asText, dateTime64, int64, payloadText } from '../clickhouse-values.js'
import type { ProjectedEvent, Projection } from '../projection.js'
import { columnNames, rowValues, type CallRow } from './columns.js'
import type { CompletedStart } from './complete.js'

type Positioned = CallEvent & Pick<ProjectedEvent, 'position'>

const INDEX_COLUMNS = ['project_id', 'id', 'trace_id', 'started_at', 'position'] as const

/** The events of one call within a batch become one row of `calls`. Events of a call that has not started make none. */
export const callsProjection: Projection = {
  name: 'calls',
  rowsOf: (events) => {
    const rows = new Map<string, CallRow>()
    const index: Json[][] = []
    for (const event of events as readonly Positioned[]) applyTo(rows, index, event)
    return [
      { table: 'calls', columns: columnNames, values: [...rows.values()].map(rowValues) },
      { table: 'call_index', columns: INDEX_COLUMNS, values: index },
    ].filter(({ values }) => values.length > 0)
  },
}

const applyTo = (rows: Map<string, CallRow>, index: Json[][], { type, data, position }: Positioned): void => {
  switch (type) {
    case 'CallStarted': {
      const row = rowOf(rows, data, data.started_at)
      Object.assign(row, startOf(data, position))
      const { end, names = [] } = data as CompletedStart
      if (end && 'position' in end) Object.assign(row, endOf(end, end.position))
      row.names = [...names, ...namesOf(row)]
      index.push([data.project_id, data.id, data.trace_id, dateTime64(data.started_at), String(position)])
      return
    }
    case 'CallEnded': {
      const startedAt = data.start?.started_at ?? null
      if (startedAt === null) return
      Object.assign(rowOf(rows, data, startedAt), endOf(data, String(position)))
      return
    }
    case 'CallRenamed': {
      const startedAt = data.started_at ?? null
      if (startedAt === null) return
      const row = rowOf(rows, data, startedAt)
      row.names = [...namesOf(row), [String(position), data.display_name ?? '']]
      return
    }
    case 'CallDeleted': {
      const startedAt = data.started_at ?? null
      if (startedAt === null) return
      const row = rowOf(rows, data, startedAt)
      if (position < BigInt((row.deleted_position as string | undefined) ?? position + 1n))
        row.deleted_position = String(position)
      return
    }
    case 'ConflictingCallStartReported':
    case 'ConflictingCallEndReported':
      return
  }
}

const startOf = (data: Extract<CallEvent, { type: 'CallStarted' }>['data'], position: Position): CallRow => ({
  op_name: data.op_name,
  op: opOf(data.op_name),
  display_name: data.display_name,
  trace_id: data.trace_id,
  parent_id: data.parent_id,
  thread_id: data.thread_id,
  turn_id: data.turn_id,
  attributes: payloadText(data.attributes),
  inputs: payloadText(data.inputs),
  otel_dump: data.otel_dump && payloadText(data.otel_dump),
  input_refs: refsIn(data.inputs),
  wb_user_id: data.wb_user_id,
  wb_run_id: data.wb_run_id,
  wb_run_step: data.wb_run_step === null ? null : int64(data.wb_run_step),
  started_position: String(position),
})

const endOf = (data: CallEnded, position: string): CallRow => ({
  ended_at: dateTime64(data.ended_at),
  end_status: endStatus(data.exception, data.summary),
  exception: data.exception,
  output: asText(data, 'output'),
  summary: payloadText(data.summary),
  output_refs: refsIn(data.output),
  wb_run_step_end: data.wb_run_step_end === null ? null : int64(data.wb_run_step_end),
  ended_position: position,
})

const namesOf = ({ names }: CallRow): readonly Json[] => (names ?? []) as readonly Json[]

const rowOf = (
  rows: Map<string, CallRow>,
  { project_id, id }: { readonly project_id: string; readonly id: string },
  startedAt: Instant,
): CallRow => {
  const key = `${project_id}/${id}`
  let row = rows.get(key)
  if (row === undefined) {
    row = { project_id, started_at: dateTime64(startedAt), id }
    rows.set(key, row)
  }
  return row
}

const REF = /^[a-z-]+:\/\/\/./

/**
 * The references (`weave:///entity/project/object/name:digest`) anywhere in a value, one a line with a line break
 * before the first and after the last, so that a whole reference or a prefix can be searched; null for none.
 */
const refsIn = (value: Json): string | null => {
  const found = new Set<string>()
  collectRefs(value, found)
  return found.size === 0 ? null : `\n${[...found].join('\n')}\n`.toWellFormed()
}

const collectRefs = (value: Json, found: Set<string>): void => {
  if (typeof value === 'string') {
    if (value.includes(':///') && REF.test(value) && !value.includes('\n')) found.add(value)
  } else if (Array.isArray(value)) {
    for (const item of value) collectRefs(item as Json, found)
  } else if (isJsonObject(value)) {
    for (const key in value) collectRefs(value[key]!, found)
  }
}
