import type { Instant } from '../../../kernel/codec/instant.js'
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

/** The result of an attempt. A failure may carry the receiver's Retry-After. */
export type AttemptVerdict =
  | { readonly result: 'succeeded' }
  | { readonly result: 'failed'; readonly notBefore: Instant | null }
  | { readonly result: 'dead'; readonly reason: DeadReason }

export interface FinishAttempt {
  readonly type: 'FinishAttempt'
  readonly deliveryId: string
  readonly attempt: number
  readonly finishedAt: Instant
  readonly verdict: AttemptVerdict
  /** The webhook's retry delays in seconds; null for the default. */
  readonly waitsS: readonly number[] | null
  /** Details for the record. */
  readonly observed: AttemptObservation
}

export type AttemptObservation = Pick<
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
