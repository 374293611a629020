import assert from 'node:assert/strict'
import fc from 'fast-check'
import { paceOf, type Look } from '../../../../src/projections/rebuild/pace.js'

const look = (at: number, reached: bigint, events: number): Look => ({ at, reached, events })

describe('the pace of a rebuild', () => {
  it('is that of the events, and remains as long as the positions tell, which have gaps', () => {
    const pace = paceOf(look(1000, 0n, 0), look(3000, 1000n, 50), 4000n)

    assert.deepEqual(pace, { events_per_second: 25, remaining_seconds: 6 })
  })

  it('is not known at the first look, nor what remains while nothing moves', () => {
    const first = look(5, 7n, 3)

    assert.deepEqual(paceOf(first, first, 9n), { events_per_second: 0, remaining_seconds: null })
    assert.equal(paceOf(first, look(1005, 7n, 3), 9n).remaining_seconds, null)
  })

  it('remains for nothing at the target or beyond it', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 60n), fc.bigInt(0n, 2n ** 60n), (target, beyond) => {
        const pace = paceOf(look(0, 0n, 0), look(1, target + beyond, 1), target)
        assert.equal(pace.remaining_seconds, 0)
      }),
    )
  })
})
