import type { Instant } from '../../domain/codec/instant.js'

/** A call as the queries read it from `calls`; payload fields are JSON text. */
export interface StoredCall {
  readonly project_id: string
  readonly id: string
  readonly op_name: string
  readonly display_name: string | null
  readonly trace_id: string
  readonly parent_id: string | null
  readonly thread_id: string | null
  readonly turn_id: string | null
  readonly started_at: Instant
  readonly ended_at: Instant | null
  readonly exception: string | null
  readonly attributes: string | null
  readonly inputs: string | null
  readonly output: string | null
  readonly summary: string | null
  readonly otel_dump: string | null
  readonly wb_user_id: string | null
  readonly wb_run_id: string | null
  readonly wb_run_step: number | null
  readonly wb_run_step_end: number | null
}

/** The names that were given up to the position of a statement. */
const NAMES = 'arrayFilter(naming -> naming.1 <= {position:UInt64}, names)'

/** The last name given; that of the start if there is none, and none if it was taken back. */
const NAME = `if(empty(${NAMES}), display_name, nullIf(arrayReverseSort(${NAMES})[1].2, ''))`

/** What the end brought is not there yet at a position before it. */
const ended = (column: string): string => `if(ended_position <= {position:UInt64}, ${column}, NULL)`

/** What stands behind each plain field of a call in SQL as of `position`, a parameter. */
export const FIELDS: Readonly<Record<keyof StoredCall, string>> = {
  project_id: 'project_id',
  id: 'id',
  op_name: 'op_name',
  display_name: NAME,
  trace_id: 'trace_id',
  parent_id: 'parent_id',
  thread_id: 'thread_id',
  turn_id: 'turn_id',
  started_at: 'started_at',
  ended_at: ended('ended_at'),
  exception: ended('exception'),
  attributes: 'attributes',
  inputs: 'inputs',
  output: ended('output'),
  summary: ended('summary'),
  otel_dump: 'otel_dump',
  wb_user_id: 'wb_user_id',
  wb_run_id: 'wb_run_id',
  wb_run_step: 'wb_run_step',
  wb_run_step_end: ended('wb_run_step_end'),
}

/** Payload fields, which a query may leave unread. */
export const PAYLOAD = ['attributes', 'inputs', 'output', 'summary', 'otel_dump'] as const

export type PayloadColumn = (typeof PAYLOAD)[number]

/** The bytes of its payload's JSON. */
export const BYTES = `ifNull(start_bytes, 0) + ifNull(${ended('end_bytes')}, 0)`

/** The references in its output, one a line. */
export const OUTPUT_REFS = ended('output_refs')
