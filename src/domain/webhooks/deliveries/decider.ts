import { nothing, refused, type Decider, type Decision } from '../../../kernel/decider.js'
import type {
  CancelDelivery,
  DeliveryCommand,
  FinishAttempt,
  LoseAttempt,
  ResendDelivery,
  StartAttempt,
} from './commands.js'
import type { DeadReason, DeliveryEvent } from './events.js'
import { MAX_AGE_MS, waitAfter, waitAfterUnknown } from './retrying.js'
import { evolve, initialState, type DeliveryState, type KnownDelivery, type OpenDelivery } from './state.js'
import { instantAt, millisOf } from './times.js'

const decide = (state: DeliveryState, command: DeliveryCommand): Decision<DeliveryEvent> => {
  if (command.type === 'ScheduleDelivery')
    return state.phase === 'absent'
      ? { events: [{ type: 'DeliveryScheduled', data: command.delivery }] }
      : nothing
  if (command.type === 'SuppressDelivery')
    return state.phase === 'absent'
      ? { events: [{ type: 'DeliverySuppressed', data: command.suppressed }] }
      : nothing
  if (state.phase === 'absent' || state.phase === 'suppressed')
    return refused('not-found', 'Delivery not found.')
  switch (command.type) {
    case 'StartAttempt':
      return start(state, command)
    case 'FinishAttempt':
      return finish(state, command)
    case 'LoseAttempt':
      return lose(state, command)
    case 'CancelDelivery':
      return cancel(state, command)
    case 'ResendDelivery':
      return resend(state, command)
  }
}

const start = (
  state: KnownDelivery,
  { deliveryId, instance, startedAt, deadlineAt, webhookRevision }: StartAttempt,
): Decision<DeliveryEvent> =>
  state.phase !== 'pending' && state.phase !== 'retrying'
    ? refused('conflict', `The delivery is ${state.phase}.`)
    : {
        events: [
          {
            type: 'AttemptStarted',
            data: {
              delivery_id: deliveryId,
              team: state.team,
              attempt: state.attempts + 1,
              instance,
              started_at: startedAt,
              deadline_at: deadlineAt,
              webhook_revision: webhookRevision,
              possible_duplicate: state.maybeArrived,
            },
          },
        ],
      }

const finish = (state: KnownDelivery, command: FinishAttempt): Decision<DeliveryEvent> => {
  const { deliveryId, attempt, observed } = command
  if (state.phase !== 'in_flight' || state.attempts !== attempt)
    return refused('conflict', `Attempt ${attempt} is not in progress.`)
  const outcome = outcomeOf(state, command)
  const data = { delivery_id: deliveryId, team: state.team, attempt, ...observed, ...outcome }
  return { events: [{ type: 'AttemptFinished', data }] }
}

type Outcome = Pick<
  Extract<DeliveryEvent, { type: 'AttemptFinished' }>['data'],
  'outcome' | 'reason' | 'next_at'
>

const outcomeOf = (
  state: OpenDelivery,
  { deliveryId, attempt, finishedAt, verdict, waitsS, observed }: FinishAttempt,
): Outcome => {
  if (verdict.result === 'succeeded') return { outcome: 'succeeded', reason: null, next_at: null }
  if (verdict.result === 'dead') return dead(verdict.reason)
  const wait = waitAfter({ deliveryId, attempt, failures: state.failures + 1, waitsS })
  if (wait === undefined) return dead('exhausted')
  const ended = millisOf(finishedAt)
  const next = Math.max(ended + wait, verdict.notBefore === null ? 0 : millisOf(verdict.notBefore))
  const age = state.age + (observed.phases['total'] ?? 0) + (next - ended)
  return age > MAX_AGE_MS ? dead('too_old') : { outcome: 'retry', reason: null, next_at: instantAt(next) }
}

const dead = (reason: DeadReason): Outcome => ({ outcome: 'dead', reason, next_at: null })

const lose = (
  state: KnownDelivery,
  { deliveryId, attempt, now, waitsS }: LoseAttempt,
): Decision<DeliveryEvent> => {
  if (state.phase !== 'in_flight' || state.attempts !== attempt) return nothing
  const next_at = instantAt(millisOf(now) + waitAfterUnknown({ deliveryId, attempt, waitsS }))
  const data = { delivery_id: deliveryId, team: state.team, attempt, next_at, lost_at: now }
  return { events: [{ type: 'AttemptOutcomeUnknown', data }] }
}

const cancel = (state: KnownDelivery, { deliveryId, reason }: CancelDelivery): Decision<DeliveryEvent> => {
  if (state.phase === 'canceled') return nothing
  return state.phase === 'pending' || state.phase === 'retrying'
    ? { events: [{ type: 'DeliveryCanceled', data: { delivery_id: deliveryId, team: state.team, reason } }] }
    : refused('conflict', cannotCancel(state))
}

const cannotCancel = ({ phase }: KnownDelivery): string =>
  phase === 'in_flight'
    ? 'An attempt is in progress. The delivery can be canceled after it has ended, if it is to be retried.'
    : `The delivery is ${phase}. Only a pending or retrying delivery can be canceled.`

const resend = (state: KnownDelivery, { deliveryId, now }: ResendDelivery): Decision<DeliveryEvent> => {
  if (state.phase === 'in_flight')
    return refused('conflict', 'An attempt is in progress. The delivery can be resent after it has ended.')
  // Pending deliveries too: a resend overrides an open circuit breaker and Retry-After.
  return {
    events: [{ type: 'DeliveryResent', data: { delivery_id: deliveryId, team: state.team, due_at: now } }],
  }
}

/** A message to a webhook: scheduled once, attempted one at a time, until it is delivered or dead. */
export const deliveryDecider: Decider<DeliveryState, DeliveryCommand, DeliveryEvent> = {
  initialState: () => initialState,
  evolve,
  decide,
}
