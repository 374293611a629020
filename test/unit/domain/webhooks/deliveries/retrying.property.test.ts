import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  USUAL_WAITS_S,
  waitAfter,
  waitAfterUnknown,
} from '../../../../../src/domain/webhooks/deliveries/retrying.js'

const step = fc.record({
  deliveryId: fc.string(),
  attempt: fc.integer({ min: 1, max: 100 }),
  failures: fc.integer({ min: 1, max: 40 }),
  waitsS: fc.option(fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { maxLength: 32 })),
})

describe('the waits between attempts', () => {
  it('are those of the list, ±20 %, and the same whenever they are asked for', () =>
    fc.assert(
      fc.property(step, (given) => {
        const wait = waitAfter(given)
        const planned = (given.waitsS ?? USUAL_WAITS_S)[given.failures - 1]
        if (planned === undefined) return assert.equal(wait, undefined)
        assert.ok(wait !== undefined && Math.abs(wait - planned * 1000) <= planned * 200 + 1)
        assert.equal(waitAfter({ ...given }), wait)
      }),
    ))

  it('are spread evenly over deliveries', () => {
    const waits = Array.from({ length: 10_000 }, (_, index) =>
      waitAfterUnknown({ deliveryId: `dlv_${index}`, attempt: 1, waitsS: [1] }),
    )
    const mean = waits.reduce((sum, wait) => sum + wait, 0) / waits.length
    assert.ok(mean > 990 && mean < 1010, `${mean}`)
    assert.ok(waits.filter((wait) => wait < 850).length > 1000)
    assert.ok(waits.filter((wait) => wait > 1150).length > 1000)
  })

  it('come to 76.7 hours', () =>
    assert.equal(
      USUAL_WAITS_S.reduce((sum, wait) => sum + wait, 0),
      276_155,
    ))
})
