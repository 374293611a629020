import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  startProbe,
  MAX_FAULTS_IN_A_ROW,
  FIRST_OUT_MS,
  healthy,
  MAX_OUT_MS,
  recordOutcome,
  stateOf,
  type Health,
  type RequestOutcome,
} from '../../../../../src/domain/gateway/upstreams/health.js'

const usual = { isProbe: false, isLast: false }
const faulty = (faults: number, now = 0, isLast = false): Health =>
  Array.from({ length: faults }).reduce<Health>(
    (health) => recordOutcome(health, 'fault', now, { ...usual, isLast }),
    healthy,
  )

describe('the health of a model at an upstream', () => {
  it('is out after so many faults in a row, and not before', () => {
    assert.equal(faulty(MAX_FAULTS_IN_A_ROW - 1).phase, 'closed')
    const health = faulty(MAX_FAULTS_IN_A_ROW, 100)
    assert.equal(stateOf(health, 100 + FIRST_OUT_MS - 1), 'open')
    assert.equal(stateOf(health, 100 + FIRST_OUT_MS), 'half-open')
    const interrupted = recordOutcome(faulty(MAX_FAULTS_IN_A_ROW - 1), 'answer', 0, usual)
    assert.equal(recordOutcome(interrupted, 'fault', 0, usual).phase, 'closed')
  })

  it('never is out where it is the last', () => {
    assert.equal(faulty(50, 0, true).phase, 'closed')
  })

  it('is probed by one request at a time, which brings it back or keeps it out for twice as long', () => {
    let health = faulty(MAX_FAULTS_IN_A_ROW)
    let now = 0
    for (const wait of [5, 10, 20, 40, 60, 60].map((s) => s * 1000)) {
      assert.equal(stateOf(health, now + wait - 1), 'open')
      now += wait
      assert.equal(stateOf(health, now), 'half-open')
      health = startProbe(health, now)
      assert.equal(stateOf(health, now), 'open', 'a second request is no probe')
      health = recordOutcome(health, 'fault', now, { ...usual, isProbe: true })
    }
    health = startProbe(health, now + MAX_OUT_MS)
    const left = recordOutcome(health, 'nothing', now, { ...usual, isProbe: true })
    assert.equal(stateOf(left, now + MAX_OUT_MS), 'half-open', 'a probe that shows nothing leaves its place')
    assert.deepEqual(recordOutcome(health, 'answer', now, { ...usual, isProbe: true }), healthy)
  })

  it('hears of no request but the probe once it is out', () => {
    const health = faulty(MAX_FAULTS_IN_A_ROW)
    for (const what of ['answer', 'fault', 'nothing'] as const)
      assert.deepEqual({ ...recordOutcome(health, what, 1, usual), failuresInARow: 5 }, health)
  })

  it('is out for 5 to 60 s at a time, and comes back by an answer alone', () => {
    const step = fc.record({
      what: fc.constantFrom<RequestOutcome>('answer', 'fault', 'fault', 'nothing'),
      after: fc.nat(30_000),
      isLast: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let health = healthy
        let now = 0
        for (const { what, after, isLast } of steps) {
          now += after
          const isProbe = stateOf(health, now) === 'half-open'
          const before = startProbe(health, now)
          health = recordOutcome(before, what, now, { isProbe, isLast })
          if (health.phase !== 'closed') {
            assert.ok(health.openMs >= FIRST_OUT_MS && health.openMs <= MAX_OUT_MS)
            assert.ok(health.until - now <= MAX_OUT_MS)
            assert.equal(health.phase, 'open')
          }
          if (before.phase !== 'closed' && health.phase === 'closed') assert.ok(isProbe && what === 'answer')
          if (before.phase === 'closed' && health.phase !== 'closed')
            assert.ok(what === 'fault' && !isLast && health.failuresInARow >= MAX_FAULTS_IN_A_ROW)
        }
      }),
    )
  })
})
