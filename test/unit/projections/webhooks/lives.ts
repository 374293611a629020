import fc from 'fast-check'
import { instantAt } from '../../../../src/domain/webhooks/deliveries/times.js'
import type { DeliveryCommand } from '../../../../src/domain/webhooks/deliveries/commands.js'
import { deliveryDecider } from '../../../../src/domain/webhooks/deliveries/decider.js'
import { deliveryEvents, type DeliveryEvent } from '../../../../src/domain/webhooks/deliveries/events.js'
import type { DeliveryState } from '../../../../src/domain/webhooks/deliveries/state.js'
import { arbitraryOf } from '../../../support/arbitrary-of-codec.js'

const STEPS = ['start', 'succeed', 'fail', 'die', 'lose', 'cancel', 'resend'] as const
type Step = (typeof STEPS)[number]

const NOW = Date.parse('2026-01-01T00:00:00Z')

/** What deciders decided about one delivery, with what it was behind each event. */
export interface Life {
  readonly events: readonly DeliveryEvent[]
  readonly states: readonly DeliveryState[]
}

/** The life of a delivery: scheduled, attempted, given up and sent again in any order that its rules allow. */
export const arbitraryLife = (deliveryId: string): fc.Arbitrary<Life> =>
  fc
    .tuple(
      arbitraryOf(deliveryEvents.DeliveryScheduled),
      fc.array(fc.constantFrom(...STEPS), { maxLength: 12 }),
      fc.option(fc.integer({ min: 100, max: 599 })),
    )
    .map(([scheduled, steps, status]) => {
      const events: DeliveryEvent[] = []
      const states: DeliveryState[] = []
      let state: DeliveryState = deliveryDecider.initialState()
      const run = (command: DeliveryCommand) => {
        for (const event of deliveryDecider.decide(state, command).events) {
          state = deliveryDecider.evolve(state, event)
          events.push(event)
          states.push(state)
        }
      }
      const delivery = { ...scheduled, delivery_id: deliveryId, scheduled_at: instantAt(NOW) }
      run({ type: 'ScheduleDelivery', delivery })
      for (const [index, step] of steps.entries())
        run(commandOf(step, deliveryId, 'attempts' in state ? state.attempts : 0, NOW + index * 1000, status))
      return { events, states }
    })

const commandOf = (
  step: Step,
  deliveryId: string,
  attempt: number,
  at: number,
  status: number | null,
): DeliveryCommand => {
  const now = instantAt(at)
  const finished = {
    type: 'FinishAttempt' as const,
    deliveryId,
    attempt,
    finishedAt: now,
    waitsS: null,
    observed: {
      phases: { total: 12 },
      status,
      error: status === null ? 'timeout:head' : null,
      peer: null,
      body_digest: null,
      body_bytes: null,
      body_sent: true,
      throttled_until: null,
    },
  }
  switch (step) {
    case 'start':
      return {
        type: 'StartAttempt',
        deliveryId,
        instance: 'one',
        webhookRevision: 0,
        startedAt: now,
        deadlineAt: now,
      }
    case 'succeed':
      return { ...finished, verdict: { result: 'succeeded' } }
    case 'fail':
      return { ...finished, verdict: { result: 'failed', notBefore: null } }
    case 'die':
      return { ...finished, verdict: { result: 'dead', reason: 'gone' } }
    case 'lose':
      return { type: 'LoseAttempt', deliveryId, attempt, now, waitsS: null }
    case 'cancel':
      return { type: 'CancelDelivery', deliveryId, reason: 'by_hand' }
    case 'resend':
      return { type: 'ResendDelivery', deliveryId, now }
  }
}
