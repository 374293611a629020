import { isReceiverUp } from '../../domain/webhooks/deliveries/classify.js'
import { millisOf } from '../../domain/webhooks/deliveries/times.js'
import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import { webhookHealthStream } from '../../domain/webhooks/health.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import type { Automations } from './automations.js'
import { deliveryIdOf, type Deliveries, type DeliveryChange } from './deliveries.js'
import {
  afterAttempt,
  afterHealthReport,
  afterResend,
  afterWebhookEvent,
  hasRecovered,
  type AttemptObserved,
} from './endpoint.js'
import type { EndpointStore } from './endpoint-store.js'
import type { HealthReports } from './health.js'
import type { Matched } from './matching.js'
import type { Measures } from './measures.js'
import type { Outbox } from './outbox.js'
import type { Prices } from './prices.js'
import { scheduleEvents, type ScheduleEvent } from './schedule-event.js'
import type { Scheduler } from './scheduler.js'
import type { SecretVersions } from './secret-versions.js'

interface ApplyDeps {
  readonly sha256: Sha256
  readonly state: Pick<DispatcherState, 'delivery' | 'get' | 'put'>
  readonly match: (event: RecordedEvent) => Promise<readonly Matched[]>
  readonly endpoints: EndpointStore
  readonly automations: Automations
  readonly prices: Pick<Prices, 'apply'>
  readonly secrets: SecretVersions
  readonly deliveries: Deliveries
  readonly outbox: Outbox
  readonly scheduler: Pick<Scheduler, 'wake' | 'reset' | 'recover' | 'unpause'>
  readonly health: Pick<HealthReports, 'note'>
  readonly measures: Pick<Measures, 'matched' | 'suppressed'>
}

/**
 * Reads what an event needs, then returns the function that applies it: deliveries to schedule go to the outbox, and the
 * state changes. That function is synchronous, so that a commit never has half an event, and a failed read needs no
 * rollback.
 */
export const eventApplier = (given: ApplyDeps) => {
  const { deliveries, outbox, measures } = given
  return async (event: RecordedEvent): Promise<() => void> => {
    const began = performance.now()
    const matches = await given.match(event)
    measures.matched(matches.length, (performance.now() - began) / 1000)
    const folded = await deliveries.read(event)
    return () => {
      if (matches.length > 0) outbox.put(toSchedule(given, event, matches))
      apply(given, event, () => deliveries.apply(event, folded))
    }
  }
}

const toSchedule = (
  { sha256, state, endpoints, measures }: ApplyDeps,
  event: RecordedEvent,
  matches: readonly Matched[],
): readonly ScheduleEvent[] => {
  const delivery = deliveryIdOf(event.stream)
  const depth = delivery === undefined ? 0 : (state.delivery(delivery)?.delivery.depth ?? 0)
  const schedulings = matches
    // The webhook may have been deleted before the event.
    .filter(({ automation }) => endpoints.get(automation.content.webhook) !== undefined)
    .map((match) => scheduleEvents(sha256, event, depth, () => nextSequence(state, match.team))(match))
  for (const { type, data } of schedulings)
    if (type === 'DeliverySuppressed') measures.suppressed(data.reason)
  return schedulings
}

const SEQUENCE = 'sequence'

/** Counted in the order of the log, so it is the same in every dispatcher and after a rebuild. */
const nextSequence = (state: ApplyDeps['state'], team: string): number => {
  const next = Number(state.get(SEQUENCE, team) ?? 0) + 1
  state.put(SEQUENCE, team, next)
  return next
}

/** After these, what attempts showed about the webhook's receiver no longer counts. */
const RESETTING = new Set(['WebhookChanged', 'WebhookEnabled', 'WebhookReleased'])

const apply = (
  given: ApplyDeps,
  event: RecordedEvent,
  applyDelivery: () => DeliveryChange | undefined,
): void => {
  const { endpoints, scheduler, health } = given
  switch (event.stream.slice(0, event.stream.indexOf('-'))) {
    case 'webhook': {
      const id = event.stream.slice('webhook-'.length)
      endpoints.update(id, (before) => afterWebhookEvent(before, event))
      if (RESETTING.has(event.type)) scheduler.reset(id)
      scheduler.wake(id)
      health.note(id)
      return
    }
    case 'webhook_health': {
      const id = event.stream.slice(webhookHealthStream('').length)
      endpoints.update(id, (before) => before && afterHealthReport(before, event))
      return
    }
    case 'automation':
      return given.automations.apply(event)
    case 'price':
      return given.prices.apply(event)
    case 'secret':
      return given.secrets.apply(event)
    case 'delivery': {
      const change = applyDelivery()
      if (change !== undefined) followDelivery(given, event, change)
      return
    }
    default:
  }
}

const followDelivery = (
  { outbox, endpoints, scheduler, health }: ApplyDeps,
  event: RecordedEvent,
  { before, after }: DeliveryChange,
): void => {
  const { type, data } = event
  if (type === 'DeliveryScheduled' || type === 'DeliverySuppressed')
    outbox.remove(data as unknown as ScheduleEvent['data'])
  if (after.phase === 'absent' || after.phase === 'suppressed') return
  const { webhook } = after
  const observed = before && observedIn(event, before)
  if (observed !== undefined) {
    endpoints.update(webhook, (endpoint) => {
      if (endpoint === undefined) return undefined
      const changed = afterAttempt(endpoint, observed)
      if (hasRecovered(endpoint, changed)) scheduler.recover(webhook)
      return changed
    })
    health.note(webhook)
  }
  if (type === 'DeliveryResent' && after.phase === 'pending') {
    const { correlationId } = event.metadata
    endpoints.update(webhook, (endpoint) => {
      if (endpoint === undefined) return undefined
      const changed = afterResend(endpoint, correlationId, event.recordedAt.getTime())
      if (changed !== endpoint) scheduler.unpause(webhook)
      return changed
    })
    health.note(webhook)
  }
  if (after.phase === 'pending' || after.phase === 'retrying') scheduler.wake(webhook)
}

/** The result of an attempt that was really sent: others show nothing about the receiver. */
const observedIn = (
  { type, data, recordedAt }: RecordedEvent,
  { delivery }: NonNullable<DeliveryChange['before']>,
): AttemptObserved | undefined => {
  if (type !== 'AttemptFinished' || delivery.phase !== 'in_flight') return undefined
  const { body_digest: digest, reason, throttled_until: until, error, status } = data
  if (typeof digest !== 'string' || reason === 'forbidden_address') return undefined
  const receiverUp = isReceiverUp(typeof status === 'number' ? status : null)
  return {
    webhookRevision: delivery.webhookRevision,
    startedAt: millisOf(delivery.startedAt),
    endedAt: recordedAt.getTime(),
    receiverUp,
    timedOut: typeof error === 'string' && error.startsWith('timeout:'),
    error: typeof error === 'string' ? error : typeof status === 'number' ? `status ${status}` : 'unknown',
    throttledUntil: !receiverUp && typeof until === 'string' ? Date.parse(until) : null,
  }
}
