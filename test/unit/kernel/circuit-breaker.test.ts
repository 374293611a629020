import assert from 'node:assert/strict'
import {
  afterFailure,
  afterUnknown,
  closed,
  probing,
  type CircuitBreaker,
} from '../../../src/kernel/circuit-breaker.js'

const rules = { opens: (failures: number) => failures >= 3, firstOpenMs: 30_000, maxOpenMs: 600_000 }

const afterFailures = (count: number, now = 0): CircuitBreaker =>
  Array.from({ length: count }).reduce<CircuitBreaker>((breaker) => afterFailure(breaker, now, rules), closed)

describe('a circuit breaker', () => {
  it('opens when its rule says so', () => {
    assert.deepEqual(afterFailures(2), { phase: 'closed', failuresInARow: 2 })
    const open = { phase: 'open', failuresInARow: 3, until: 30_100, openMs: 30_000 }
    assert.deepEqual(afterFailures(3, 100), open)
  })

  it('doubles the open time after each failed probe, up to the maximum', () => {
    let breaker = afterFailures(3)
    const openS: number[] = []
    for (let times = 0; times < 7; times += 1) {
      assert.ok(breaker.phase === 'open')
      openS.push(breaker.openMs / 1000)
      assert.equal(breaker.until, breaker.openMs)
      breaker = afterFailure(probing(breaker), 0, rules)
    }
    assert.deepEqual(openS, [30, 60, 120, 240, 480, 600, 600])
  })

  it('does not extend the open time when an earlier request fails', () => {
    const open = afterFailures(3)
    assert.deepEqual(afterFailure(open, 1000, rules), { ...open, failuresInARow: 4 })
  })

  it('lets the next request probe at once when a probe has no outcome', () => {
    const open = afterFailures(3)
    assert.deepEqual(afterUnknown(probing(open), 40_000), open)
    assert.deepEqual(
      afterUnknown(probing(open), 20_000),
      { ...open, until: 20_000 },
      'the clock was set back',
    )
    assert.deepEqual(afterUnknown(open, 40_000), open)
  })
})
