import type * as t from 'io-ts'
import { nullable, nullableText } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { EventOf } from '../../kernel/decider.js'
import { id, projectId } from '../../kernel/ids.js'
import { callEnd, callStart, displayName, endFields, startFields } from './content.js'
import { reportedUsage } from '../usage/reported.js'

const ofCall = { project_id: projectId, id }

/** The SDKs that add a finished child's usage to its parent, by the name in the attributes. */
export const sdkSource = oneOf('js-sdk', 'python-sdk')

/** The writer of a call, as far as it affects usage: one of these SDKs, or this service's gateway. */
const callSource = oneOf('js-sdk', 'python-sdk', 'gateway')

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

export const callStarted = open('CallStarted', {
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
  },
})

export const callEnded = open('CallEnded', {
  says: 'A call ended, with its reported usage. The first end is kept.',
  required: { ...endFields.required, usage: reportedUsage },
  optional: { ...endFields.optional, start: nullable(knownStart) },
})

/** The start of the call, by which its rows are ordered; null if it has not started. */
const startedAt = nullable(instant)

const callRenamed = open('CallRenamed', {
  says: "A call's display name was set or removed.",
  required: ofCall,
  optional: { display_name: nullableText(displayName), started_at: startedAt },
})

const callDeleted = open('CallDeleted', {
  says: 'A call was deleted. Reads and statistics exclude it and the calls below it from this position on.',
  required: ofCall,
  optional: { trace_id: nullableText(id), started_at: startedAt },
})

const conflictingCallStartReported = open('ConflictingCallStartReported', {
  says: 'A start that conflicts with the recorded one was rejected. Stored for audit only.',
  required: { ...ofCall, start: callStart },
})

const conflictingCallEndReported = open('ConflictingCallEndReported', {
  says: 'An end that conflicts with the recorded one was rejected. Stored for audit only.',
  required: { ...ofCall, end: callEnd },
})

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
