import assert from 'node:assert/strict'
import fc from 'fast-check'
import { SlidingWindow, type WindowEntry } from '../../../../../src/domain/gateway/limits/sliding-window.js'

const LENGTH = 100

interface Step {
  readonly after: number
  readonly weight: number
  /** What it turns out to weigh, at most what was taken for it. */
  readonly used: number
}

const arbitrarySteps = fc.array(
  fc.record({ after: fc.nat(40), weight: fc.integer({ min: 1, max: 12 }), used: fc.nat(12) }),
  { maxLength: 200, size: 'max' },
)

const passed = (steps: readonly Step[], most: number) => {
  const window = new SlidingWindow(LENGTH)
  const taken: WindowEntry[] = []
  let now = 0
  for (const { after, weight, used } of steps) {
    now += after
    const frees = window.availableAt(now, weight, most)
    if (frees === undefined) {
      const one = window.take(now, weight)
      if (used < weight) window.correct(now, one, used)
      taken.push(one)
    } else if (frees !== Infinity) {
      assert.ok(frees > now)
      assert.notEqual(window.availableAt(frees - 1, weight, most), undefined)
      assert.equal(window.availableAt(frees, weight, most), undefined)
      // What was asked at a later time is forgotten by then: the rest goes on from there.
      now = frees
    }
  }
  return { window, taken, now }
}

describe('a sliding window', () => {
  it('lets through no more than its limit in any stretch of its length', () => {
    fc.assert(
      fc.property(arbitrarySteps, fc.integer({ min: 5, max: 40 }), (steps, most) => {
        const { taken } = passed(steps, most)
        for (const { at } of taken) {
          const within = taken.filter((one) => one.at > at - LENGTH && one.at <= at)
          assert.ok(within.reduce((sum, { weight }) => sum + weight, 0) <= most)
        }
      }),
    )
  })

  it('knows what is used of it, and says exactly when enough is free again', () => {
    fc.assert(
      fc.property(arbitrarySteps, fc.integer({ min: 5, max: 40 }), fc.nat(300), (steps, most, later) => {
        const { window, taken, now } = passed(steps, most)
        const at = now + later
        const used = taken.filter((one) => one.at > at - LENGTH).reduce((sum, { weight }) => sum + weight, 0)
        assert.equal(window.used(at), used)
      }),
    )
  })

  it('never has room for more than its limit, and is empty when its newest entry is over', () => {
    const window = new SlidingWindow(LENGTH)
    assert.equal(window.availableAt(0, 11, 10), Infinity)
    assert.equal(window.emptyAt(7), 7)
    window.take(10, 1)
    window.take(20, 1)
    assert.equal(window.emptyAt(30), 20 + LENGTH)
    assert.equal(window.emptyAt(500), 500)
  })

  it('forgets what something weighed that is over', () => {
    const window = new SlidingWindow(LENGTH)
    const one = window.take(0, 5)
    assert.equal(window.used(LENGTH), 0)
    window.correct(LENGTH, one, 3)
    assert.equal(window.used(LENGTH), 0)
  })
})
