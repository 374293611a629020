import {
  callDecider,
  nameOf,
  type CallState,
  callStream,
  type CallEnded,
  type CallStarted,
} from '../../domain/calls/call.js'
import { load } from '../../kernel/execute.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { jsonText, memberText } from '../../kernel/json/text.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { readBack } from '../../kernel/spill/read-back.js'
import type { StoredCall } from '../../projections/calls/columns.js'
import { isCallDeleted } from '../refs/deleted-call.js'

/**
 * Folds a call from its own stream, up to a position, so that acknowledged writes are visible without a projection. Undefined if it has
 * not started, or if it or a call above it was deleted.
 */
export const foldedCall =
  ({ eventStore, blobs }: Pick<Ports, 'eventStore' | 'blobs'>) =>
  async (projectId: string, id: string, at?: Position): Promise<StoredCall | undefined> => {
    const { state } = await load({ eventStore }, callDecider, callStream(projectId, id), at)
    const { start, end, deleted } = state
    if (start === null || deleted) return undefined
    const { parent_id, trace_id } = start
    if (await isCallDeleted(eventStore, projectId, parent_id, { at, traceId: trace_id })) return undefined
    const whole = <Data>(data: Data) => readBack(blobs, data as JsonObject) as Promise<Data>
    return storedCall(state, await whole(start), end && (await whole(end)))
  }

const storedCall = (state: CallState, start: CallStarted, end: CallEnded | null): StoredCall => ({
  project_id: start.project_id,
  id: start.id,
  op_name: start.op_name,
  display_name: nameOf(state),
  trace_id: start.trace_id,
  parent_id: start.parent_id,
  thread_id: start.thread_id,
  turn_id: start.turn_id,
  started_at: start.started_at,
  ended_at: end?.ended_at ?? null,
  exception: end?.exception ?? null,
  attributes: jsonText(start.attributes),
  inputs: jsonText(start.inputs),
  output: end && memberText(end, 'output'),
  summary: end && jsonText(end.summary),
  otel_dump: start.otel_dump && jsonText(start.otel_dump),
  wb_user_id: start.wb_user_id,
  wb_run_id: start.wb_run_id,
  wb_run_step: start.wb_run_step,
  wb_run_step_end: end?.wb_run_step_end ?? null,
})
