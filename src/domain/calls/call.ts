import type * as t from 'io-ts'
import { nullable, nullableText } from '../../kernel/codec/containers.js'
import { erasable, erasureFields, isWithoutFigures } from '../../kernel/codec/erasable.js'
import { instant } from '../../kernel/codec/instant.js'
import { oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import {
  type EventOf,
  nothing,
  refused,
  type Decider,
  type Decision,
  type Refusal,
} from '../../kernel/decider.js'
import { id, projectId } from '../../kernel/ids.js'
import {
  callEnd,
  callStart,
  displayName,
  endFields,
  startFields,
  type CallEnd,
  type CallStart,
  fingerprint,
  sameEnd,
  sameStart,
  sameTrace,
} from './content.js'
import { erasedCallData } from './erased.js'
import { callWithoutFigures } from './without-figures.js'
import { reportedUsage, type ReportedUsage } from './usage/reported.js'
import { callSource } from './source.js'
import { usageByStart } from './usage/output-report.js'
import { withDigitsOf } from '../../kernel/json/digits.js'

const ofCall = { project_id: projectId, id }

/** The part of a start that the end repeats, so that one event is enough to project both. */
const knownStart = open('KnownStart', {
  required: { trace_id: id, started_at: instant },
  optional: { parent_id: nullableText(id), source: nullable(callSource) },
})

/** The part of an end that a later start repeats. An exception too large for an event is truncated. */
const knownEnd = open('KnownEnd', {
  required: { ended_at: instant, usage: reportedUsage },
  optional: { exception: nullableText(string) },
})

export const callStarted = erasable(
  open('CallStarted', {
    says: 'A call started. The first start is kept.',
    required: {
      ...startFields.required,
      trace_id: id,
      /** Source of the trace id: the client, the parent's start, or the call's own id. */
      trace_from: oneOf('client', 'parent', 'call'),
    },
    optional: {
      ...startFields.optional,
      source: nullable(callSource),
      /** The user of the key that wrote the start. */
      wb_user_id: nullableText(string),
      end: nullable(knownEnd),
      ...erasureFields,
    },
  }),
)

export const callEnded = erasable(
  open('CallEnded', {
    says: 'A call ended, with its reported usage. The first end is kept.',
    required: { ...endFields.required, usage: reportedUsage },
    optional: { ...endFields.optional, start: nullable(knownStart), ...erasureFields },
  }),
)

/** The start of the call, by which its rows are ordered; null if it has not started. */
const startedAt = nullable(instant)

const callRenamed = erasable(
  open('CallRenamed', {
    says: "A call's display name was set or removed.",
    required: ofCall,
    optional: { display_name: nullableText(displayName), started_at: startedAt, ...erasureFields },
  }),
)

const callDeleted = erasable(
  open('CallDeleted', {
    says: 'A call was deleted. Reads and statistics exclude it and the calls below it from this position on.',
    required: ofCall,
    optional: { trace_id: nullableText(id), started_at: startedAt, ...erasureFields },
  }),
)

const conflictingCallStartReported = erasable(
  open('ConflictingCallStartReported', {
    says: 'A start that conflicts with the recorded one was rejected. Stored for audit only.',
    required: { ...ofCall, start: callStart },
    optional: erasureFields,
  }),
)

const conflictingCallEndReported = erasable(
  open('ConflictingCallEndReported', {
    says: 'An end that conflicts with the recorded one was rejected. Stored for audit only.',
    required: { ...ofCall, end: callEnd },
    optional: erasureFields,
  }),
)

export const callEvents = {
  CallStarted: callStarted,
  CallEnded: callEnded,
  CallRenamed: callRenamed,
  CallDeleted: callDeleted,
  ConflictingCallStartReported: conflictingCallStartReported,
  ConflictingCallEndReported: conflictingCallEndReported,
}

export type CallStarted = t.TypeOf<typeof callStarted>
export type CallEnded = t.TypeOf<typeof callEnded>
export type KnownStart = t.TypeOf<typeof knownStart>

export type CallEvent = EventOf<typeof callEvents>

export const callStream = (projectId: string, callId: string): string => `call-${projectId}/${callId}`

export interface StartCall {
  readonly type: 'StartCall'
  readonly start: CallStart
  /** The trace for a start that names none: the parent's, if its start is known. */
  readonly parentTrace: string | null
  readonly source: CallStarted['source']
  readonly userId: string
  /** A span that has not ended. It may be reported again and again, each time with more. */
  readonly isRunning?: boolean
}

export interface EndCall {
  readonly type: 'EndCall'
  readonly end: CallEnd
  readonly usage: ReportedUsage
}

/** Ends an abandoned call. Writes nothing if it was ended or deleted in the meantime. */
export interface GiveUpCall {
  readonly type: 'GiveUpCall'
  readonly end: CallEnd
  readonly usage: ReportedUsage
}

export interface RenameCall {
  readonly type: 'RenameCall'
  readonly project_id: string
  readonly id: string
  readonly display_name: string | null
}

export interface DeleteCall {
  readonly type: 'DeleteCall'
  readonly project_id: string
  readonly id: string
}

export type CallCommand = StartCall | EndCall | GiveUpCall | RenameCall | DeleteCall

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

const WAS_ERASED = refused('conflict', 'This call was erased. Use another call id.')

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
      if (isWithoutFigures(state.start)) return WAS_ERASED
      if (display_name === nameOf(state)) return nothing
      const started_at = state.start?.started_at ?? null
      return { events: [{ type: 'CallRenamed', data: { project_id, id, display_name, started_at } }] }
    }
    case 'DeleteCall': {
      const { project_id, id } = command
      if (state.deleted || (state.start ?? state.end) === null || isWithoutFigures(state.start))
        return nothing
      const { trace_id, started_at } = state.start ?? { trace_id: null, started_at: null }
      return { events: [{ type: 'CallDeleted', data: { project_id, id, trace_id, started_at } }] }
    }
    default:
      return command satisfies never
  }
}

export const nameOf = (state: CallState): string | null =>
  state.renamed === undefined ? (state.start?.display_name ?? null) : state.renamed

const decideStart = (state: CallState, command: StartCall) => {
  const { start, parentTrace, source, userId } = command
  const { project_id, id } = start
  if (state.start !== null) {
    // It cannot be compared, and must not be recorded again.
    if (state.start.erased === true) return nothing
    const isSpan = source === 'otel' && state.start.source === 'otel'
    // Either report was made while the span ran. Which other spans have its id is not known before its end.
    if (isSpan && (command.isRunning === true || state.end === null)) return nothing
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
  return { events: [asErased({ type: 'CallStarted', data }, state.end)] } satisfies Decision<CallEvent>
}

/** The event without its content if that of the other part of the call was erased: the call was to be erased as a whole. */
const asErased = <Event extends CallEvent>(
  event: Event,
  other: { readonly erased?: boolean | undefined } | null,
): Event => {
  if (other?.erased !== true) return event
  const left = isWithoutFigures(other) ? callWithoutFigures : erasedCallData
  return { ...event, data: left(event.type, event.data) as Event['data'] }
}

const decideEnd = (state: CallState, { end, usage }: EndCall) => {
  const { project_id, id } = end
  if (state.end !== null) {
    if (state.end.erased === true) return nothing
    if (sameEnd(end, state.end)) return nothing
    return conflict('end', state.otherEnds.has(fingerprint(end)), {
      type: 'ConflictingCallEndReported',
      data: { project_id, id, end },
    })
  }
  const start = state.start && knownStartOf(state.start)
  const known = state.start === null ? usage : usageByStart(state.start, end, usage)
  const data: CallEnded = withDigitsOf(end, { usage: known, start, ...end })
  return { events: [asErased({ type: 'CallEnded', data }, state.start)] } satisfies Decision<CallEvent>
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
