import type * as t from 'io-ts'
import { nullable, recordOf } from '../../../kernel/codec/containers.js'
import { instant, instantOf } from '../../../kernel/codec/instant.js'
import { boolean, int64, json, number, oneOf, string } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import type { EventOf } from '../../../kernel/decider.js'
import { id, teamName } from '../../../kernel/ids.js'
import type { RecordedEvent } from '../../../kernel/ports/event-store.js'

const required = { delivery_id: id, team: teamName }

/** The event that the delivery reports, with its position in this log. */
export const deliverySource = open('DeliverySource', {
  required: { event_id: id, type: string, stream: string, position: string, recorded_at: instant },
})

export const sourceOf = ({
  id: event_id,
  type,
  stream,
  position,
  recordedAt,
}: RecordedEvent): t.TypeOf<typeof deliverySource> => ({
  event_id,
  type,
  stream,
  position: String(position),
  recorded_at: instantOf(recordedAt),
})

export const deliveryScheduled = open('DeliveryScheduled', {
  says:
    'An automation matched an event, which scheduled a message to a webhook. Template variables are fixed here; secrets and ' +
    'the URL are read when it is sent.',
  required: {
    ...required,
    automation_id: id,
    /** Revision of the automation's stream with the template. */
    automation_revision: int64,
    webhook_id: id,
    source: deliverySource,
    event_type: string,
    variables: recordOf(json),
    /** Number of deliveries between the original event and this one. */
    depth: int64,
    scheduled_at: instant,
  },
  optional: {
    replay_id: nullable(id),
    /** Counts the scheduled deliveries of the team from 1. Absent in earlier releases. */
    sequence: nullable(int64),
  },
})

const attemptStarted = open('AttemptStarted', {
  says: 'An attempt is about to be sent, only by the process that appended this event.',
  required: {
    ...required,
    attempt: int64,
    instance: string,
    started_at: instant,
    deadline_at: instant,
    /** Revision of the webhook's stream that was used. */
    webhook_revision: int64,
    possible_duplicate: boolean,
  },
})

export const deadReason = oneOf(
  'exhausted',
  'too_old',
  'gone',
  'receiver_asked',
  'client_error',
  'forbidden_address',
  'missing_secret',
  'render_error',
  'webhook_deleted',
)
export type DeadReason = t.TypeOf<typeof deadReason>

const phases = recordOf(nullable(number))

const attemptFinished = open('AttemptFinished', {
  says: 'An attempt ended. `next_at` is when the next attempt is due, null if there is none.',
  required: { ...required, attempt: int64, outcome: oneOf('succeeded', 'retry', 'dead'), phases },
  optional: {
    status: nullable(int64),
    error: nullable(string),
    reason: nullable(deadReason),
    next_at: nullable(instant),
    /** SHA-256 and length of the body as sent. */
    body_digest: nullable(string),
    body_bytes: nullable(int64),
    peer: nullable(string),
    body_sent: nullable(boolean),
    throttled_until: nullable(instant),
  },
})

const attemptOutcomeUnknown = open('AttemptOutcomeUnknown', {
  says: 'The outcome of an attempt is unknown because its process died. The next attempt is marked as a possible duplicate.',
  required: { ...required, attempt: int64, next_at: instant },
  optional: {
    /** When the delay until `next_at` began. Absent in earlier releases. */
    lost_at: nullable(instant),
  },
})

const deliveryCanceled = open('DeliveryCanceled', {
  says: 'A delivery was canceled. There are no more attempts.',
  required: { ...required, reason: oneOf('by_hand', 'webhook_deleted') },
})

const deliveryResent = open('DeliveryResent', {
  says: 'A user resent a delivery: same id, next attempt number, retry delays from the start.',
  required: { ...required, due_at: instant },
})

const deliverySuppressed = open('DeliverySuppressed', {
  says: 'An automation matched an event caused by a chain of deliveries that is too long. Nothing is sent, to stop the loop.',
  required: {
    ...required,
    automation_id: id,
    source: deliverySource,
    reason: oneOf('loop', 'rate'),
    depth: int64,
  },
})

export const deliveryEvents = {
  DeliveryScheduled: deliveryScheduled,
  AttemptStarted: attemptStarted,
  AttemptFinished: attemptFinished,
  AttemptOutcomeUnknown: attemptOutcomeUnknown,
  DeliveryCanceled: deliveryCanceled,
  DeliveryResent: deliveryResent,
  DeliverySuppressed: deliverySuppressed,
}

export type DeliveryEvent = EventOf<typeof deliveryEvents>
export type DeliveryScheduled = t.TypeOf<typeof deliveryScheduled>

/** Maximum depth of deliveries triggered by deliveries, to stop loops. */
export const DEEPEST = 3

export const deliveryStream = (id: string): string => `delivery-${id}`
