import type { Instant } from '../../../kernel/codec/instant.js'
import type { DeadReason, DeliveryEvent } from './events.js'
import { instantAt, millisOf } from './times.js'

/** State of every scheduled delivery. */
interface Scheduled {
  readonly team: string
  readonly webhook: string
  readonly automation: string
  readonly depth: number
  /** Number of the last attempt, from 1. */
  readonly attempts: number
  /** Failed attempts since it was scheduled or re-sent. */
  readonly failures: number
  /** Milliseconds of planned delays and attempts; time held up by other deliveries does not count. */
  readonly age: number
  /** Whether the receiver may already have it. */
  readonly maybeArrived: boolean
}

/** A delivery with a due time. `since` is the start of the delay; `notBefore` comes from Retry-After. */
export interface WaitingDelivery extends Scheduled {
  readonly phase: 'pending' | 'retrying'
  readonly since: Instant
  readonly dueAt: Instant
  readonly notBefore: Instant | null
}

export interface InFlightDelivery extends Scheduled {
  readonly phase: 'in_flight'
  readonly instance: string
  readonly startedAt: Instant
  readonly deadlineAt: Instant
  /** Revision of the webhook used by this attempt. */
  readonly webhookRevision: number
}

export interface EndedDelivery extends Scheduled {
  readonly phase: 'succeeded' | 'dead' | 'canceled'
  readonly reason: DeadReason | Data<'DeliveryCanceled'>['reason'] | null
}

export type OpenDelivery = WaitingDelivery | InFlightDelivery
export type KnownDelivery = OpenDelivery | EndedDelivery
export type DeliveryState = { readonly phase: 'absent' } | { readonly phase: 'suppressed' } | KnownDelivery

export const initialState: DeliveryState = { phase: 'absent' }

export const evolve = (state: DeliveryState, event: DeliveryEvent): DeliveryState => {
  if (event.type === 'DeliveryScheduled') return scheduled(event.data)
  if (event.type === 'DeliverySuppressed') return { phase: 'suppressed' }
  if (state.phase === 'absent' || state.phase === 'suppressed') return state
  const { team, webhook, automation, depth, attempts, failures, age, maybeArrived } = state
  const kept = { team, webhook, automation, depth, attempts, failures, age, maybeArrived }
  switch (event.type) {
    case 'AttemptStarted':
      return started(state, kept, event.data)
    case 'AttemptFinished':
      return finished(state, kept, event.data)
    case 'AttemptOutcomeUnknown':
      return {
        phase: 'retrying',
        since: event.data.lost_at ?? event.data.next_at,
        dueAt: event.data.next_at,
        notBefore: null,
        ...kept,
        maybeArrived: true,
      }
    case 'DeliveryCanceled':
      return { phase: 'canceled', reason: event.data.reason, ...kept }
    case 'DeliveryResent': {
      const { due_at } = event.data
      const arrived = maybeArrived || state.phase === 'succeeded'
      return {
        phase: 'pending',
        since: due_at,
        dueAt: due_at,
        notBefore: null,
        ...kept,
        failures: 0,
        age: 0,
        maybeArrived: arrived,
      }
    }
    default:
      return state
  }
}

type Data<Type extends DeliveryEvent['type']> = Extract<DeliveryEvent, { type: Type }>['data']

const scheduled = ({
  team,
  webhook_id,
  automation_id,
  depth,
  scheduled_at,
}: Data<'DeliveryScheduled'>): WaitingDelivery => ({
  phase: 'pending',
  team,
  webhook: webhook_id,
  automation: automation_id,
  depth,
  attempts: 0,
  failures: 0,
  age: 0,
  maybeArrived: false,
  since: scheduled_at,
  dueAt: scheduled_at,
  notBefore: null,
})

const started = (
  state: KnownDelivery,
  kept: Scheduled,
  { attempt, instance, started_at, deadline_at, webhook_revision }: Data<'AttemptStarted'>,
): InFlightDelivery => ({
  phase: 'in_flight',
  instance,
  startedAt: started_at,
  deadlineAt: deadline_at,
  webhookRevision: webhook_revision,
  ...kept,
  attempts: attempt,
  age: kept.age + plannedWait(state, started_at),
})

/** Time after the due time does not count: other deliveries held it up. */
const plannedWait = (state: KnownDelivery, startedAt: Instant): number =>
  'since' in state
    ? Math.max(0, Math.min(millisOf(startedAt), millisOf(state.dueAt)) - millisOf(state.since))
    : 0

const finished = (state: KnownDelivery, kept: Scheduled, data: Data<'AttemptFinished'>): DeliveryState => {
  const { outcome, status, body_sent, phases, reason, next_at, throttled_until } = data
  const took = phases['total'] ?? 0
  const maybeArrived = kept.maybeArrived || (status === null && body_sent === true)
  const after = { ...kept, maybeArrived, age: kept.age + took }
  if (outcome === 'succeeded') return { phase: 'succeeded', reason: null, ...after }
  const failures = kept.failures + 1
  if (outcome === 'dead' || next_at === null) return { phase: 'dead', reason, ...after, failures }
  return {
    phase: 'retrying',
    since: 'startedAt' in state ? instantAt(millisOf(state.startedAt) + took) : next_at,
    dueAt: next_at,
    notBefore: throttled_until,
    ...after,
    failures,
  }
}
