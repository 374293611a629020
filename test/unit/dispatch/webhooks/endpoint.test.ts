import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  afterAttempt,
  afterClockSetBack,
  afterResend,
  afterWebhookEvent,
  hasRecovered,
  sendPermission,
  type AttemptObserved,
  type Endpoint,
} from '../../../../src/dispatch/webhooks/endpoint.js'
import type { RecordedEvent } from '../../../../src/kernel/ports/event-store.js'
import { anEndpoint } from './waiting-deliveries.js'

const unused = anEndpoint({})
const succeeded: AttemptObserved = {
  webhookRevision: 0,
  startedAt: 0,
  endedAt: 0,
  receiverUp: true,
  timedOut: false,
  error: 'unknown',
  throttledUntil: null,
}
const failed: AttemptObserved = { ...succeeded, receiverUp: false, error: 'status 500' }
const timedOut: AttemptObserved = { ...failed, timedOut: true }
const at = (attempt: AttemptObserved, time: number) => ({ ...attempt, startedAt: time, endedAt: time })

const after = (attempts: readonly AttemptObserved[], from = unused): Endpoint =>
  attempts.reduce(afterAttempt, from)
const times = <A>(count: number, value: A): readonly A[] => Array.from({ length: count }, () => value)
const concurrency = (endpoint: Endpoint, now = 0): number => {
  let inFlight = 0
  while (sendPermission(endpoint, inFlight, now).kind === 'send') inFlight += 1
  return inFlight
}

describe('an endpoint', () => {
  it('gets four attempts at once, one more for each success up to sixteen, and one after a time-out', () => {
    assert.equal(concurrency(unused), 4)
    assert.equal(concurrency(after([succeeded])), 5)
    assert.equal(concurrency(after(times(12, succeeded))), 16)
    assert.equal(concurrency(after(times(500, succeeded))), 16)
    assert.equal(concurrency(after([...times(12, succeeded), failed])), 4)
    assert.equal(concurrency(after([succeeded, timedOut])), 1)
    assert.equal(concurrency(after([timedOut, succeeded])), 5)
  })

  it('opens its breaker after ten failures in a row, however slowly they come', () => {
    const phaseAfter = (outcomes: string) =>
      after(Array.from(outcomes, (one, n) => at(one === 's' ? succeeded : failed, n * 3_600_000))).breaker
        .phase
    assert.equal(phaseAfter('f'.repeat(9)), 'closed')
    assert.equal(phaseAfter('f'.repeat(10)), 'open')
    assert.equal(phaseAfter(`${'f'.repeat(9)}s${'f'.repeat(9)}`), 'closed')
  })

  it('gets one probe when the breaker has been open for its time, and recovers when it succeeds', () => {
    const open = after(times(10, failed))
    assert.deepEqual(sendPermission(open, 0, 29_999), { kind: 'wait', until: 30_000 })
    assert.deepEqual(sendPermission(open, 0, 30_000), { kind: 'probe' })
    assert.deepEqual(sendPermission(open, 1, 30_000), { kind: 'wait' })
    const back = afterAttempt(open, at(succeeded, 30_000))
    assert.ok(hasRecovered(open, back))
    assert.equal(back.failures, 0)
  })

  it('doubles the open time after a failed probe only', () => {
    const open = after(times(10, failed))
    const late = afterAttempt(open, { ...failed, startedAt: 0, endedAt: 29_000 })
    assert.deepEqual(sendPermission(late, 0, 29_500), { kind: 'wait', until: 30_000 })
    const probed = afterAttempt(late, at(failed, 30_000))
    assert.deepEqual(sendPermission(probed, 0, 30_001), { kind: 'wait', until: 90_000 })
  })

  it('gets nothing before the time that Retry-After asked for, not even a probe', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 86_400_000 }),
        fc.boolean(),
        fc.nat(1e8),
        (until, isOpen, now) => {
          const from = isOpen ? after(times(10, failed)) : unused
          const permission = sendPermission(after([{ ...failed, throttledUntil: until }], from), 0, now)
          if (now < until) assert.deepEqual(permission, { kind: 'wait', until })
        },
      ),
    ))

  it('is unchanged by an attempt from before it was reset', () => {
    const changed = anEndpoint({ revision: 3, resetRevision: 3 })
    assert.equal(afterAttempt(changed, { ...failed, webhookRevision: 2, throttledUntil: 9 }), changed)
  })

  it('is probed at once if the clock was set back while the breaker was open', () => {
    const open = after(times(10, at(failed, 3_600_000)))
    assert.equal(sendPermission(open, 0, 3_600_000).kind, 'wait')
    assert.equal(sendPermission(open, 0, 600_000).kind, 'probe')
    assert.deepEqual(sendPermission(afterClockSetBack(open, 3_000_000), 0, 600_000), {
      kind: 'wait',
      until: 630_000,
    })
  })

  it('is not throttled for longer than a Retry-After can ask for if the clock was set back', () => {
    const day = 86_400_000
    const asked = after([{ ...failed, throttledUntil: 10 * day }])
    assert.equal(sendPermission(asked, 0, 9 * day - 1000).kind, 'wait')
    assert.equal(sendPermission(asked, 0, day).kind, 'send')
  })

  it('has its breaker closed by a resend once for each request', () => {
    const open = after(times(10, failed))
    const resent = afterResend(open, 'request', 100)
    assert.equal(resent.breaker.phase, 'closed')
    assert.equal(afterResend(resent, 'request', 200), resent)
    assert.notEqual(afterResend(resent, 'other', 200), resent)
    assert.ok(!hasRecovered(open, resent))
    assert.ok(hasRecovered(resent, afterAttempt(resent, succeeded)))
  })

  it('stays failing after a release until an attempt succeeds', () => {
    const released = afterWebhookEvent(after(times(12, { ...failed, throttledUntil: 5000 })), {
      type: 'WebhookReleased',
      stream: 'webhook-w',
      data: {},
      revision: 1n,
    } as unknown as RecordedEvent)
    assert.deepEqual(sendPermission(released!, 0, 0), { kind: 'send' })
    assert.equal(released?.failures, 12)
    assert.equal(released.lastError, 'status 500')
  })

  it('is the same object after a success that shows nothing new', () => {
    const healthy = after(times(12, succeeded))
    assert.equal(afterAttempt(healthy, succeeded), healthy)
  })
})
