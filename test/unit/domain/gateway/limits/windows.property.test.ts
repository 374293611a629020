import assert from 'node:assert/strict'
import fc from 'fast-check'
import { SlidingWindow, type WindowEntry } from '../../../../../src/domain/gateway/limits/windows.js'

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
    const frees = window.freesAt(now, weight, most)
    if (frees === undefined) {
      const one = window.take(now, weight, `call-${taken.length}`)
      if (used < weight) window.settle(one, used)
      taken.push(one)
    } else if (frees !== Infinity) {
      assert.ok(frees > now)
      assert.notEqual(window.freesAt(frees - 1, weight, most), undefined)
      assert.equal(window.freesAt(frees, weight, most), undefined)
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

  it('never has room for more than its limit, and names its last calls, the newest first', () => {
    const window = new SlidingWindow(LENGTH)
    assert.equal(window.freesAt(0, 11, 10), Infinity)
    for (const call of ['a', 'b', 'c']) window.take(0, 1, call)
    assert.deepEqual(window.lastCalls(2), ['c', 'b'])
    window.used(LENGTH)
    assert.deepEqual(window.lastCalls(2), [])
  })

  it('holds nothing for longer than its length where the clock is set back', () => {
    const window = new SlidingWindow(LENGTH)
    window.take(5000, 5, 'a')
    assert.equal(window.freesAt(0, 6, 10), LENGTH)
    window.take(0, 5, 'b')
    assert.equal(window.used(LENGTH - 1), 10)
    assert.equal(window.used(LENGTH), 0)
  })

  it('keeps nothing that is over, also where nobody asks what is used', () => {
    const window = new SlidingWindow(LENGTH)
    for (let now = 0; now < 100 * LENGTH; now += 10) window.take(now, 1, 'a')
    assert.equal(window.lastCalls(1000).length, LENGTH / 10)
  })

  it('forgets what something weighed that is over', () => {
    const window = new SlidingWindow(LENGTH)
    const one = window.take(0, 5, 'a')
    assert.equal(window.used(LENGTH), 0)
    window.settle(one, 3)
    assert.equal(window.used(LENGTH), 0)
  })
})
