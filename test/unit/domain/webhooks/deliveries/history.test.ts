import assert from 'node:assert/strict'
import fc from 'fast-check'
import { deliveryHistory } from '../../../../../src/domain/webhooks/deliveries/history.js'
import type { RecordedEvent } from '../../../../../src/kernel/ports/event-store.js'
import { recorded } from '../automations/matching/given.js'

const of = { delivery_id: 'd', team: 'team' }

/** Each attempt with its end, or without one. */
const eventsOf = function* (ends: readonly boolean[]): Generator<RecordedEvent> {
  yield recorded('delivery-d', 'DeliveryScheduled', { ...of, scheduled_at: '2026-01-01T00:00:00Z' })
  for (const [place, isEnded] of ends.entries()) {
    yield recorded('delivery-d', 'AttemptStarted', { ...of, attempt: place + 1 })
    if (isEnded) yield recorded('delivery-d', 'AttemptOutcomeUnknown', { ...of, attempt: place + 1 })
  }
}

const streamOf = async function* (events: Iterable<RecordedEvent>) {
  yield* events
}

describe('the account of a delivery', () => {
  it('gives all attempts in pages, the newest first, each once and with its end', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.boolean()), fc.integer({ min: 1, max: 9 }), async (ends, most) => {
        const seen: (readonly [number, boolean])[] = []
        let before = Infinity
        for (;;) {
          const account = await deliveryHistory(streamOf(eventsOf(ends)), { most, before })
          const { attempts, hasEarlier } = account!
          assert.ok(attempts.length <= most)
          seen.unshift(...attempts.map(({ started, isUnknown }) => [started.attempt, isUnknown] as const))
          if (!hasEarlier) break
          before = attempts[0]!.started.attempt
        }
        assert.deepEqual(
          seen,
          ends.map((isEnded, place) => [place + 1, isEnded]),
        )
      }),
    ))

  it('of nothing is none', async () => {
    assert.equal(await deliveryHistory(streamOf([]), { most: 9, before: Infinity }), null)
  })
})
