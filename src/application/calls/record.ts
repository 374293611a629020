import type { EndCall, StartCall } from '../../domain/calls/call.js'
import type { CallEnd, CallStart } from '../../domain/calls/content.js'
import { reportedUsageOf } from '../../domain/calls/usage/reported.js'
import { withDigitsOf } from '../../kernel/json/digits.js'
import type { FieldText } from '../../kernel/spill/spill.js'

/** The requested write to one call, before its trace is known. */
export type CallWrite = StartWrite | EndWrite

export interface StartWrite extends Pick<StartCall, 'type' | 'source' | 'start'> {
  readonly type: 'StartCall'
  /** What is known of a call that has not ended; repeats of it are no conflict. */
  readonly isRunning?: boolean
  /** The JSON of `inputs`, if the caller has serialised them. */
  readonly inputsText?: FieldText
}

export type EndWrite = EndCall

type NewStart = Pick<CallStart, 'project_id' | 'op_name' | 'started_at'> & Partial<Omit<CallStart, 'id'>>

/** Starts a call. Fields that are left out are null or empty; without a trace, the call takes its parent's. */
export const startCall = (id: string, call: NewStart, source: StartCall['source'] = null): StartWrite => ({
  type: 'StartCall',
  source,
  // Each member by its name, on the path of every call: a spread with members after it makes a hidden class each time in Node 20.
  start: {
    project_id: call.project_id,
    id,
    op_name: call.op_name,
    display_name: call.display_name ?? null,
    trace_id: call.trace_id ?? null,
    parent_id: call.parent_id ?? null,
    thread_id: call.thread_id ?? null,
    turn_id: call.turn_id ?? null,
    started_at: call.started_at,
    attributes: call.attributes ?? {},
    inputs: call.inputs ?? {},
    otel_dump: call.otel_dump ?? null,
    wb_run_id: call.wb_run_id ?? null,
    wb_run_step: call.wb_run_step ?? null,
    spilled: {},
  },
})

type NewEnd = Pick<CallEnd, 'project_id' | 'id' | 'ended_at'> & Partial<CallEnd>

/** Ends a call with the usage that its summary reports. Fields that are left out are null or empty. */
export const endCall = (call: NewEnd): EndWrite => {
  const summary = call.summary ?? {}
  return {
    type: 'EndCall',
    usage: reportedUsageOf(summary, { output: call.output }),
    end: withDigitsOf(call, {
      project_id: call.project_id,
      id: call.id,
      ended_at: call.ended_at,
      output: call.output ?? null,
      summary,
      exception: call.exception ?? null,
      wb_run_step_end: call.wb_run_step_end ?? null,
      spilled: call.spilled ?? {},
    }),
  }
}

export const projectOf = (write: CallWrite): string =>
  write.type === 'StartCall' ? write.start.project_id : write.end.project_id
