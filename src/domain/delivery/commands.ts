import type { Instant } from '../codec/instant.js'
import type { DeadReason, DeliveryEvent, DeliveryScheduled } from './events.js'

type Data<Type extends DeliveryEvent['type']> = Extract<DeliveryEvent, { type: Type }>['data']

export interface ScheduleDelivery {
  readonly type: 'ScheduleDelivery'
  readonly delivery: DeliveryScheduled
}

export interface StartAttempt {
  readonly type: 'StartAttempt'
  readonly deliveryId: string
  readonly instance: string
  readonly startedAt: Instant
  readonly deadlineAt: Instant
  readonly webhookRevision: number
}

/** What an attempt was good for. A failure may come with the time before which the receiver wants nothing. */
export type Verdict =
  | { readonly result: 'succeeded' }
  | { readonly result: 'failed'; readonly notBefore: Instant | null }
  | { readonly result: 'dead'; readonly reason: DeadReason }

export interface FinishAttempt {
  readonly type: 'FinishAttempt'
  readonly deliveryId: string
  readonly attempt: number
  readonly finishedAt: Instant
  readonly verdict: Verdict
  /** The webhook's waits, in seconds; null for the usual ones. */
  readonly waitsS: readonly number[] | null
  /** What was seen of it, for the record. */
  readonly observed: Observed
}

export type Observed = Pick<
  Data<'AttemptFinished'>,
  'phases' | 'status' | 'error' | 'body_digest' | 'body_bytes' | 'peer' | 'body_sent' | 'throttled_until'
>

export interface LoseAttempt {
  readonly type: 'LoseAttempt'
  readonly deliveryId: string
  readonly attempt: number
  readonly now: Instant
  readonly waitsS: readonly number[] | null
}

export interface CancelDelivery {
  readonly type: 'CancelDelivery'
  readonly deliveryId: string
  readonly reason: Data<'DeliveryCanceled'>['reason']
}

export interface ResendDelivery {
  readonly type: 'ResendDelivery'
  readonly deliveryId: string
  readonly now: Instant
}

export interface SuppressDelivery {
  readonly type: 'SuppressDelivery'
  readonly suppressed: Data<'DeliverySuppressed'>
}

export type DeliveryCommand =
  | ScheduleDelivery
  | SuppressDelivery
  | StartAttempt
  | FinishAttempt
  | LoseAttempt
  | CancelDelivery
  | ResendDelivery
