import type { EndCall, StartCall } from '../../domain/calls/commands.js'
import { reportedUsageOf } from '../../domain/calls/usage.js'
import { sdkSource } from '../../domain/calls/events.js'
import { withDigitsOf } from '../../kernel/json/digits.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import type { CompletedCall, EndedCall, StartedCall } from '../../api/calls/client-call.js'

/** The requested write to one call, before its trace is known. */
export type CallWrite = StartWrite | EndWrite

export interface StartWrite extends Pick<StartCall, 'type' | 'source' | 'start'> {
  readonly type: 'StartCall'
}

export type EndWrite = EndCall

export const startWrite = (call: StartedCall, id: string): StartWrite => ({
  type: 'StartCall',
  source: sourceOf(call.attributes),
  start: {
    project_id: call.project_id,
    id,
    op_name: call.op_name,
    display_name: call.display_name,
    trace_id: call.trace_id,
    parent_id: call.parent_id,
    thread_id: call.thread_id,
    turn_id: call.turn_id,
    started_at: call.started_at,
    attributes: call.attributes,
    inputs: call.inputs,
    otel_dump: call.otel_dump,
    wb_run_id: call.wb_run_id,
    wb_run_step: call.wb_run_step,
    spilled: {},
  },
})

export const endWrite = (call: EndedCall): EndWrite => ({
  type: 'EndCall',
  usage: reportedUsageOf(call.summary),
  end: withDigitsOf(call, {
    project_id: call.project_id,
    id: call.id,
    ended_at: call.ended_at,
    output: call.output,
    summary: call.summary,
    exception: call.exception,
    wb_run_step_end: call.wb_run_step_end,
    spilled: {},
  }),
})

export const completeWrites = (call: CompletedCall): readonly CallWrite[] => [
  startWrite(call, call.id),
  endWrite(call),
]

const sourceOf = (attributes: JsonObject): StartWrite['source'] => {
  const source = isJsonObject(attributes['weave']) ? attributes['weave']['source'] : undefined
  return sdkSource.is(source) ? source : null
}
