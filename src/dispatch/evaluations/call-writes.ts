import { reportedUsageOf } from '../../domain/calls/usage.js'
import type { Instant } from '../../kernel/codec/instant.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import type { CallWrite } from './ports.js'

interface RunCallStart {
  readonly projectId: string
  readonly id: string
  readonly opName: string
  readonly displayName?: string
  readonly traceId: string
  readonly parentId: string | null
  readonly startedAt: Instant
  readonly attributes: JsonObject
  readonly inputs: JsonObject
}

export const startOfCall = (call: RunCallStart): CallWrite => ({
  type: 'StartCall',
  source: null,
  start: {
    project_id: call.projectId,
    id: call.id,
    op_name: call.opName,
    display_name: call.displayName ?? null,
    trace_id: call.traceId,
    parent_id: call.parentId,
    thread_id: null,
    turn_id: null,
    started_at: call.startedAt,
    attributes: call.attributes,
    inputs: call.inputs,
    otel_dump: null,
    wb_run_id: null,
    wb_run_step: null,
    spilled: {},
  },
})

interface RunCallEnd {
  readonly projectId: string
  readonly id: string
  readonly endedAt: Instant
  readonly output: Json
  readonly summary?: JsonObject
  readonly exception?: string | null
}

export const endOfCall = ({
  projectId,
  id,
  endedAt,
  output,
  summary = {},
  exception = null,
}: RunCallEnd): CallWrite => ({
  type: 'EndCall',
  usage: reportedUsageOf(summary),
  end: {
    project_id: projectId,
    id,
    ended_at: endedAt,
    output,
    summary,
    exception,
    wb_run_step_end: null,
    spilled: {},
  },
})
