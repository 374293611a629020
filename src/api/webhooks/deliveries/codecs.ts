import * as t from 'io-ts'
import { Codec, refuse } from '../../../kernel/codec/codec.js'
import { arrayOf, nullable, recordOf, withDefault } from '../../../kernel/codec/containers.js'
import { instant } from '../../../kernel/codec/instant.js'
import { boolean, int64, json, number, oneOf, string } from '../../../kernel/codec/leaves.js'
import { closed, open } from '../../../kernel/codec/struct.js'
import type { DeliveryPhase } from '../../../projections/webhooks/queries.js'
import { eventType } from '../../../domain/webhooks/automations/events.js'
import { waitingReason } from '../../../domain/webhooks/deliveries/waiting.js'
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

/** Several values, separated by commas. */
const severalStates = new Codec<readonly DeliveryPhase[]>(
  'states',
  (u): u is readonly DeliveryPhase[] => Array.isArray(u) && u.every(deliveryState.is),
  (u, c) => {
    const states = typeof u === 'string' ? u.split(',') : []
    return states.length > 0 && states.every(deliveryState.is)
      ? t.success(states)
      : refuse(
          u,
          c,
          'literal_error',
          `Input should be one or more of ${deliveryState.name}, separated by commas`,
        )
  },
  { type: 'string', description: `One or more of ${deliveryState.name}, separated by commas.` },
)

const filters = {
  state: withDefault(severalStates, undefined),
  /** The type of event that the automation watches. */
  event_type: withDefault(eventType, undefined),
  /** Why it is dead, canceled or suppressed. */
  reason: withDefault(string, undefined),
  /** The id of the event that triggered it. */
  source_event: withDefault(string, undefined),
  /** The id of the run, or the name of the collection of artifacts, that triggered it. */
  run: withDefault(id, undefined),
  artifact: withDefault(id, undefined),
  /** Text in its id, error or reason, or in the name of its webhook or automation. */
  q: withDefault(string, undefined),
  /** The status of the last response. */
  status: withDefault(integerInQuery(100, 999), undefined),
  /** The range of their scheduling times: `from` is inclusive, `to` exclusive. */
  from: withDefault(instant, undefined),
  to: withDefault(instant, undefined),
  webhook: withDefault(id, undefined),
}
export const deliveryFilters = { ...filters, automation: withDefault(id, undefined) }

export const automationDeliveriesQuery = closed('AutomationDeliveriesQuery', {
  optional: { ...filters, ...pageFields },
})
export const deliveriesQuery = closed('DeliveriesQuery', {
  required: { team: teamName },
  optional: { ...deliveryFilters, ...pageFields },
})
export const deliveryCountsQuery = closed('DeliveryCountsQuery', {
  required: { team: teamName },
  optional: deliveryFilters,
})
export type DeliveryFilters = Omit<t.TypeOf<typeof deliveryCountsQuery>, 'team'>

export const deliveryCountsJson = open('DeliveryCounts', {
  says: 'The numbers of deliveries that the filters select.',
  required: {
    total: int64,
    by_state: recordOf(int64),
    by_webhook: arrayOf(
      open('WebhookDeliveries', {
        required: { id, deliveries: int64 },
        optional: { name: nullable(string) },
      }),
    ),
    by_automation: arrayOf(
      open('AutomationDeliveries', {
        required: { id, deliveries: int64 },
        optional: { name: nullable(string) },
      }),
    ),
  },
})

/** Parses `after`, the `next` of the previous page: the log position before which the page starts. */
export const cursorIn = (loc: readonly string[], after: string | null | undefined): Position | undefined => {
  if (after === undefined || after === null) return undefined
  if (/^\d{1,19}$/.test(after)) return BigInt(after)
  throw invalid([{ loc, type: 'value_error', msg: 'Input should be the `next` value of a page' }])
}

export const deliveryJson = open('Delivery', {
  says:
    'A message to a webhook and its delivery state. `next_at` is when the next attempt is expected, at the earliest; ' +
    '`waiting_reason` what it waits for. Names are those of now, also of what was deleted.',
  required: {
    id,
    team: teamName,
    automation: id,
    automation_name: nullable(string),
    webhook: nullable(id),
    webhook_name: nullable(string),
    event_type: nullable(string),
    state: deliveryState,
    waiting_reason: nullable(waitingReason),
    attempts: int64,
    /** Of the last finished attempt. */
    status: nullable(int64),
    error: nullable(string),
    duration_ms: nullable(number),
    reason: nullable(string),
    source: open('DeliverySourceShown', {
      required: { event_id: id, type: string, position: string, stream: string },
    }),
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
  says:
    'An attempt to send a message. `unknown` if the sending process died before the attempt ended. `hint` says what to ' +
    'change after a response that refused the message.',
  required: {
    attempt: int64,
    outcome: oneOf('under_way', 'succeeded', 'retry', 'dead', 'unknown'),
    started_at: instant,
    deadline_at: instant,
    finished_at: nullable(instant),
    webhook_revision: int64,
    url: nullable(string),
    possible_duplicate: boolean,
    status: nullable(int64),
    error: nullable(string),
    reason: nullable(string),
    hint: nullable(string),
    phases: recordOf(nullable(number)),
    peer: nullable(string),
    body_digest: nullable(string),
    body_bytes: nullable(int64),
    next_at: nullable(instant),
    request_headers: nullable(recordOf(string)),
    response: nullable(response),
  },
})

export const deliveryDetail = open('DeliveryDetail', {
  says:
    'A delivery, read from its own events. `body` contains the names of secrets instead of their values; null ' +
    'if it cannot be rendered. `response` and `request_headers` of an attempt are null if there are none or they have been deleted. ' +
    '`attempts` are in order: the newest 50, or the 50 before the requested attempt. `attempts_before` requests ' +
    'the previous page and is null on the first. Only team administrators see `url` and `peer`, where an attempt was ' +
    'sent, and its signatures and own headers.',
  required: {
    id,
    team: teamName,
    automation: id,
    automation_revision: nullable(int64),
    automation_name: nullable(string),
    webhook: nullable(id),
    webhook_name: nullable(string),
    event_type: nullable(string),
    state: deliveryState,
    waiting_reason: nullable(waitingReason),
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
