import { callEvents, type CallEnded, type CallStarted } from '../../domain/calls/call.js'
import { opOf } from '../../domain/calls/op.js'
import { endStatus } from '../../domain/calls/status.js'
import type { Instant } from '../../kernel/codec/instant.js'
import type { EventOf } from '../../kernel/decider.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { endOfString } from '../../kernel/json/number-tokens.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { asText, dateTime64, int64, payloadText, storedText } from '../clickhouse-values.js'
import { projectionOf, type FieldTexts, type Projected } from '../projection.js'
import type { RowOf } from '../table.js'
import { columnNames, rowValues, type CallRow } from './columns.js'
import type { CompletedStart } from './complete.js'
import { CALL_INDEX } from './tables.js'

const { CallStarted, CallEnded, CallRenamed, CallDeleted } = callEvents
const EVENTS = { CallStarted, CallEnded, CallRenamed, CallDeleted }

/** The events of one call within a batch become one row of `calls`. Events of a call that has not started make none. */
export const callsProjection = projectionOf('calls', EVENTS, (events) => {
  const rows = new Map<string, CallRow>()
  const index: RowOf<typeof CALL_INDEX>[] = []
  for (const event of events) applyTo(rows, index, event)
  return [
    { table: 'calls', columns: columnNames, values: [...rows.values()].map(rowValues) },
    CALL_INDEX.rows(index),
  ]
})

const applyTo = (
  rows: Map<string, CallRow>,
  index: RowOf<typeof CALL_INDEX>[],
  { type, data, position, texts = {} }: Projected<EventOf<typeof EVENTS>>,
): void => {
  switch (type) {
    case 'CallStarted': {
      const row = rowOf(rows, data, data.started_at)
      Object.assign(row, startOf(data, position, texts))
      const { end, names = [] } = data as CompletedStart
      if (end && 'position' in end) Object.assign(row, endOf(end, end.position, end.texts))
      row.names = [...names, ...namesOf(row)]
      const { project_id, id, trace_id, started_at } = data
      index.push({ project_id, id, trace_id, started_at, position })
      return
    }
    case 'CallEnded': {
      const startedAt = data.start?.started_at ?? null
      if (startedAt === null) return
      Object.assign(rowOf(rows, data, startedAt), endOf(data, String(position), texts))
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
    }
  }
}

const startOf = (data: CallStarted, position: Position, texts: FieldTexts): CallRow => ({
  op_name: data.op_name,
  op: opOf(data.op_name),
  display_name: data.display_name,
  trace_id: data.trace_id,
  parent_id: data.parent_id,
  thread_id: data.thread_id,
  turn_id: data.turn_id,
  attributes: storedText(texts['attributes']) ?? payloadText(data.attributes),
  inputs: storedText(texts['inputs']) ?? payloadText(data.inputs),
  otel_dump: storedText(texts['otel_dump']) ?? (data.otel_dump && payloadText(data.otel_dump)),
  input_refs: linesOf(texts['inputs'] === undefined ? refsIn(data.inputs) : refsInText(texts['inputs'])),
  wb_user_id: data.wb_user_id,
  wb_run_id: data.wb_run_id,
  wb_run_step: data.wb_run_step === null ? null : int64(data.wb_run_step),
  is_erased: data.erased === true ? 1 : null,
  started_position: String(position),
})

const endOf = (data: CallEnded, position: string, texts: FieldTexts): CallRow => ({
  ended_at: dateTime64(data.ended_at),
  end_status: endStatus(data.exception, data.summary),
  exception: data.exception,
  output: storedText(texts['output']) ?? asText(data, 'output'),
  summary: storedText(texts['summary']) ?? payloadText(data.summary),
  output_refs: linesOf(texts['output'] === undefined ? refsIn(data.output) : refsInText(texts['output'])),
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
const linesOf = (refs: ReadonlySet<string>): string | null =>
  refs.size === 0 ? null : `\n${[...refs].join('\n')}\n`.toWellFormed()

const isRef = (text: string): boolean => REF.test(text) && !text.includes('\n')

export const refsIn = (value: Json): ReadonlySet<string> => {
  const found = new Set<string>()
  collectRefs(value, found)
  return found
}

const isLetterOrHyphen = (unit: number): boolean => (unit >= 0x61 && unit <= 0x7a) || unit === 0x2d

const isKeyBefore = (text: string, from: number): boolean => {
  let at = from
  while (/\s/.test(text.charAt(at))) at += 1
  return text.charCodeAt(at) === 0x3a
}

/** The references in a JSON text, of which only the strings with references are parsed. */
export const refsInText = (text: string): ReadonlySet<string> => {
  const found = new Set<string>()
  for (let at = text.indexOf(':///'); at >= 0; at = text.indexOf(':///', at + 1)) {
    let quote = at - 1
    while (isLetterOrHyphen(text.charCodeAt(quote))) quote -= 1
    // After a backslash, the quote is part of a longer string.
    if (text[quote] !== '"' || text[quote - 1] === '\\') continue
    const end = endOfString(text, quote)
    const written = text.slice(quote + 1, end)
    const value = written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written
    if (!isKeyBefore(text, end + 1) && isRef(value)) found.add(value)
    at = end
  }
  return found
}

const collectRefs = (value: Json, found: Set<string>): void => {
  if (typeof value === 'string') {
    if (value.includes(':///') && isRef(value)) found.add(value)
  } else if (Array.isArray(value)) {
    for (const item of value) collectRefs(item as Json, found)
  } else if (isJsonObject(value)) {
    for (const key in value) collectRefs(value[key]!, found)
  }
}
