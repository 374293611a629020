import assert from 'node:assert/strict'
import { instantAt } from '../../../../../src/domain/webhooks/deliveries/times.js'
import { waitOf } from '../../../../../src/domain/webhooks/deliveries/waiting.js'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const at = (seconds: number) => instantAt(NOW + 1000 * seconds)
const healthy = { enabled: true, maxPerMinute: null, health: { throttled_until: null, next_probe_at: null } }
const wait = (dueInS: number, more: object = {}, since = at(0)) =>
  waitOf({ dueAt: at(dueInS), since }, { ...healthy, ...more }, NOW)
const YEAR_S = 365 * 86_400

describe('what a delivery waits for', () => {
  it('is its own retry', () => assert.deepEqual(wait(30), { next_at: at(30), waiting_reason: 'retry' }))

  it('is its turn if it is due', () =>
    assert.deepEqual(wait(-30), { next_at: at(0), waiting_reason: 'queue' }))

  it('is the rate limit of the webhook if it is due', () =>
    assert.deepEqual(wait(-30, { maxPerMinute: 5 }), { next_at: at(0), waiting_reason: 'rate_limit' }))

  it('is the time that the receiver asked for, if that is later than its retry', () => {
    const health = { throttled_until: at(60), next_probe_at: null }
    assert.deepEqual(wait(30, { health }), { next_at: at(60), waiting_reason: 'throttled' })
    assert.deepEqual(wait(90, { health }), { next_at: at(90), waiting_reason: 'retry' })
  })

  it('is the probe of the circuit breaker', () => {
    const health = { throttled_until: null, next_probe_at: at(20) }
    assert.deepEqual(wait(5, { health }), { next_at: at(20), waiting_reason: 'circuit_breaker' })
    const due = { throttled_until: null, next_probe_at: at(-1) }
    assert.deepEqual(wait(-5, { health: due }), { next_at: at(0), waiting_reason: 'circuit_breaker' })
  })

  it('begins again if it began while the clock was ahead', () => {
    const retry = wait(YEAR_S + 120, {}, at(YEAR_S))
    assert.deepEqual(retry, { next_at: at(120), waiting_reason: 'retry' })
    for (const health of [
      { throttled_until: at(YEAR_S + 60), next_probe_at: null },
      { throttled_until: null, next_probe_at: at(YEAR_S + 60) },
    ])
      assert.deepEqual(wait(YEAR_S + 120, { health }, at(YEAR_S)).next_at, at(120))
  })

  it('is its webhook while that is disabled', () =>
    assert.deepEqual(wait(30, { enabled: false }), { next_at: null, waiting_reason: 'webhook_disabled' }))
})
