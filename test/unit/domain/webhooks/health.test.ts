import assert from 'node:assert/strict'
import { instantAt } from '../../../../src/domain/webhooks/deliveries/times.js'
import { healthAt, healthOf, HEALTHY } from '../../../../src/domain/webhooks/health.js'

const NOW = 1_000_000
const later = instantAt(NOW + 60_000)
const muchLater = instantAt(NOW + 600_000)
const earlier = instantAt(NOW - 60_000)
const calm = { failures: 0, failingSince: null, lastError: null, throttledUntil: null, probeAt: null }
const failing = { ...calm, failures: 3, failingSince: earlier, lastError: 'status 500' }
const stateOf = (observed: Partial<typeof failing> & object) => healthOf({ ...calm, ...observed }, NOW).state

describe('the health of a webhook', () => {
  it('is healthy, failing, throttled or open, by what was observed of its receiver', () => {
    assert.deepEqual(healthOf(calm, NOW), HEALTHY)
    assert.equal(stateOf(failing), 'failing')
    assert.equal(stateOf({ ...failing, throttledUntil: later } as object), 'throttled')
    assert.equal(stateOf({ throttledUntil: later } as object), 'throttled')
    assert.equal(stateOf({ ...failing, throttledUntil: earlier } as object), 'failing')
    assert.equal(stateOf({ ...failing, probeAt: later } as object), 'open')
  })

  it('shows no probe before a Retry-After is over', () => {
    const open = { ...failing, probeAt: later, throttledUntil: muchLater }
    assert.equal(healthOf(open, NOW).next_probe_at, muchLater)
    assert.equal(healthOf({ ...open, throttledUntil: null }, NOW).next_probe_at, later)
  })

  it('is no longer throttled when the time is over, without a further report', () => {
    const throttled = healthOf({ ...failing, throttledUntil: later }, NOW)
    assert.deepEqual(healthAt(throttled, { enabled: true }, NOW), throttled)
    const over = healthAt(throttled, { enabled: true }, NOW + 60_000)
    assert.deepEqual([over.state, over.throttled_until], ['failing', null])
  })

  it('is disabled while the webhook is, and keeps the last error', () => {
    const open = healthOf({ ...failing, probeAt: later }, NOW)
    const shown = healthAt(open, { enabled: false }, NOW)
    assert.deepEqual([shown.state, shown.next_probe_at, shown.last_error], ['disabled', null, 'status 500'])
  })
})
