import { nothing, refused, type Decider, type Decision, type Refusal } from '../../kernel/decider.js'
import type { CallCommand, EndCall, StartCall } from './commands.js'
import { fingerprint, sameEnd, sameStart, type CallStart } from './content.js'
import { usageByStart } from '../usage/output-report.js'
import { withDigitsOf } from '../../kernel/json/digits.js'
import type { CallEnded, CallEvent, CallStarted, KnownStart } from './events.js'

export interface CallState {
  readonly start: CallStarted | null
  readonly end: CallEnded | null
  /** Undefined until a client renames the call. */
  readonly renamed: string | null | undefined
  readonly deleted: boolean
  /** Fingerprints of the conflicting starts and ends already reported. */
  readonly otherStarts: Set<string>
  readonly otherEnds: Set<string>
}

const initialState = (): CallState => ({
  start: null,
  end: null,
  renamed: undefined,
  deleted: false,
  otherStarts: new Set(),
  otherEnds: new Set(),
})

const evolve = (state: CallState, event: CallEvent): CallState => {
  switch (event.type) {
    case 'CallStarted':
      return { ...state, start: event.data }
    case 'CallEnded':
      return { ...state, end: event.data }
    case 'CallRenamed':
      return { ...state, renamed: event.data.display_name }
    case 'CallDeleted':
      return { ...state, deleted: true }
    case 'ConflictingCallStartReported':
      state.otherStarts.add(fingerprint(event.data.start))
      return state
    case 'ConflictingCallEndReported':
      state.otherEnds.add(fingerprint(event.data.end))
      return state
    default:
      return state
  }
}

const WAS_DELETED = refused('conflict', 'This call was deleted. Use another call id.')

const decide = (state: CallState, command: CallCommand): Decision<CallEvent> => {
  switch (command.type) {
    case 'StartCall':
      return state.deleted ? WAS_DELETED : decideStart(state, command)
    case 'EndCall':
      return state.deleted ? WAS_DELETED : decideEnd(state, command)
    case 'GiveUpCall':
      return state.deleted || state.start === null || state.end !== null
        ? nothing
        : decideEnd(state, { ...command, type: 'EndCall' })
    case 'RenameCall': {
      const { project_id, id, display_name } = command
      if (state.deleted) return WAS_DELETED
      if (display_name === nameOf(state)) return nothing
      const started_at = state.start?.started_at ?? null
      return { events: [{ type: 'CallRenamed', data: { project_id, id, display_name, started_at } }] }
    }
    case 'DeleteCall': {
      const { project_id, id } = command
      if (state.deleted || (state.start ?? state.end) === null) return nothing
      const { trace_id, started_at } = state.start ?? { trace_id: null, started_at: null }
      return { events: [{ type: 'CallDeleted', data: { project_id, id, trace_id, started_at } }] }
    }
    default:
      return command satisfies never
  }
}

export const nameOf = (state: CallState): string | null =>
  state.renamed === undefined ? (state.start?.display_name ?? null) : state.renamed

const decideStart = (state: CallState, { start, parentTrace, source, userId }: StartCall) => {
  const { project_id, id } = start
  if (state.start !== null) {
    if (sameTrace(start, state.start) && sameStart(start, state.start)) return nothing
    return conflict('start', state.otherStarts.has(fingerprint(start)), {
      type: 'ConflictingCallStartReported',
      data: { project_id, id, start },
    })
  }

  const end = state.end && {
    ended_at: state.end.ended_at,
    exception: state.end.exception,
    usage: usageByStart(start, state.end, state.end.usage),
  }
  const data: CallStarted = {
    project_id,
    id,
    op_name: start.op_name,
    display_name: start.display_name,
    parent_id: start.parent_id,
    thread_id: start.thread_id,
    turn_id: start.turn_id,
    started_at: start.started_at,
    attributes: start.attributes,
    inputs: start.inputs,
    otel_dump: start.otel_dump,
    wb_run_id: start.wb_run_id,
    wb_run_step: start.wb_run_step,
    spilled: start.spilled,
    trace_id: start.trace_id ?? parentTrace ?? id,
    trace_from: start.trace_id !== null ? 'client' : parentTrace !== null ? 'parent' : 'call',
    source,
    wb_user_id: userId,
    end,
  }
  return { events: [{ type: 'CallStarted', data }] } satisfies Decision<CallEvent>
}

/** A start without a trace may be repeated without one, or with the trace it was answered. */
const sameTrace = (start: CallStart, known: CallStarted): boolean =>
  start.trace_id === null ? known.trace_from !== 'client' : start.trace_id === known.trace_id

const decideEnd = (state: CallState, { end, usage }: EndCall) => {
  const { project_id, id } = end
  if (state.end !== null) {
    if (sameEnd(end, state.end)) return nothing
    return conflict('end', state.otherEnds.has(fingerprint(end)), {
      type: 'ConflictingCallEndReported',
      data: { project_id, id, end },
    })
  }
  const start = state.start && knownStartOf(state.start)
  const known = state.start === null ? usage : usageByStart(state.start, end, usage)
  const data: CallEnded = withDigitsOf(end, { usage: known, start, ...end })
  return { events: [{ type: 'CallEnded', data }] } satisfies Decision<CallEvent>
}

/** The part of a start that its end repeats. */
export const knownStartOf = ({ trace_id, started_at, parent_id, source }: CallStarted): KnownStart => ({
  trace_id,
  started_at,
  parent_id,
  source,
})

const conflict = (part: 'start' | 'end', reported: boolean, report: CallEvent): Decision<CallEvent> => {
  const refusal: Refusal = {
    kind: 'conflict',
    reason: `A different ${part} is already recorded for this call and is kept. Use another call id.`,
  }
  return { events: reported ? [] : [report], refused: refusal }
}

export const callDecider: Decider<CallState, CallCommand, CallEvent> = { initialState, evolve, decide }
