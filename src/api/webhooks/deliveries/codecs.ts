import { arrayOf, nullable, recordOf, withDefault } from '../../../kernel/codec/containers.js'
import { instant } from '../../../kernel/codec/instant.js'
import { boolean, int64, json, number, oneOf, string } from '../../../kernel/codec/leaves.js'
import { closed, open } from '../../../kernel/codec/struct.js'
import { deliverySource } from '../../../domain/webhooks/deliveries/events.js'
import { id, teamName } from '../../../kernel/ids.js'
import type { Position } from '../../../kernel/ports/event-store.js'
import { pageFields } from '../../server/page.js'
import { invalid } from '../../../application/failure.js'
import { integerInQuery } from '../../server/integer-in-query.js'

/** `held` deliveries wait for their disabled webhook. `suppressed` deliveries are never sent. */
export const deliveryState = oneOf(
  'pending',
  'in_flight',
  'retrying',
  'held',
  'succeeded',
  'dead',
  'canceled',
  'suppressed',
)

const filters = {
  state: withDefault(deliveryState, undefined),
  /** The status of the last response. */
  status: withDefault(integerInQuery(100, 999), undefined),
  /** The range of their scheduling times: `from` is inclusive, `to` exclusive. */
  from: withDefault(instant, undefined),
  to: withDefault(instant, undefined),
  ...pageFields,
}

export const automationDeliveriesQuery = closed('AutomationDeliveriesAsked', {
  optional: { ...filters, webhook: withDefault(id, undefined) },
})

export const deliveriesQuery = closed('DeliveriesAsked', {
  required: { team: teamName },
  optional: { ...filters, webhook: withDefault(id, undefined), automation: withDefault(id, undefined) },
})

/** Parses `after`, the `next` of the previous page: the log position before which the page starts. */
export const cursorIn = (loc: readonly string[], after: string | null | undefined): Position | undefined => {
  if (after === undefined || after === null) return undefined
  if (/^\d{1,19}$/.test(after)) return BigInt(after)
  throw invalid([{ loc, type: 'value_error', msg: 'Input should be the `next` value of a page' }])
}

export const deliveryJson = open('Delivery', {
  says: 'A message to a webhook and its delivery state.',
  required: {
    id,
    team: teamName,
    automation: id,
    webhook: nullable(id),
    event_type: nullable(string),
    state: deliveryState,
    attempts: int64,
    /** Of the last finished attempt. */
    status: nullable(int64),
    error: nullable(string),
    duration_ms: nullable(number),
    reason: nullable(string),
    source: open('DeliverySourceShown', { required: { event_id: id, type: string, position: string } }),
    scheduled_at: instant,
    next_at: nullable(instant),
    finished_at: nullable(instant),
  },
})

/** `attempts_before` selects the attempts before this number. */
export const detailQuery = closed('DeliveryAsked', {
  optional: { attempts_before: withDefault(integerInQuery(1, 999_999_999), undefined) },
})

const response = open('DeliveryResponse', {
  says:
    'The head of a response and the start of its body, with secrets redacted. Deleted after 90 days. Only team ' +
    'administrators see the body and cookies.',
  required: { status: nullable(int64), headers: recordOf(string), body: nullable(string) },
})

const attempt = open('DeliveryAttempt', {
  says: 'An attempt to send a message. `unknown` if the sending process died before the attempt ended.',
  required: {
    attempt: int64,
    outcome: oneOf('under_way', 'succeeded', 'retry', 'dead', 'unknown'),
    started_at: instant,
    deadline_at: instant,
    finished_at: nullable(instant),
    webhook_revision: int64,
    possible_duplicate: boolean,
    status: nullable(int64),
    error: nullable(string),
    reason: nullable(string),
    phases: recordOf(nullable(number)),
    peer: nullable(string),
    body_digest: nullable(string),
    body_bytes: nullable(int64),
    next_at: nullable(instant),
    response: nullable(response),
  },
})

export const deliveryDetail = open('DeliveryDetail', {
  says:
    'A delivery, read from its own events. `body` contains the names of secrets instead of their values; null ' +
    'if it cannot be rendered. `response` of an attempt is null if there was none or it has been deleted. ' +
    '`attempts` are in order: the newest 50, or the 50 before the requested attempt. `attempts_before` requests ' +
    'the previous page and is null on the first.',
  required: {
    id,
    team: teamName,
    automation: id,
    automation_revision: nullable(int64),
    webhook: nullable(id),
    event_type: nullable(string),
    state: deliveryState,
    reason: nullable(string),
    source: deliverySource,
    depth: int64,
    variables: recordOf(json),
    body: nullable(string),
    unresolved: arrayOf(string),
    scheduled_at: instant,
    next_at: nullable(instant),
    finished_at: nullable(instant),
    attempts: arrayOf(attempt),
    attempts_before: nullable(int64),
  },
})
