import assert from 'node:assert/strict'
import fc from 'fast-check'
import { positionsIn, rangesOf } from '../../../../src/application/erasures/erase-events.js'

describe('ranges of positions', () => {
  it('are of exactly the positions, and as few as possible', () => {
    assert.equal(rangesOf([19n, 17n, 18n, 23n]), '17-19,23')
    fc.assert(
      fc.property(fc.uniqueArray(fc.bigInt({ min: 1n, max: 60n })), (positions) => {
        const sorted = [...positions].sort((a, b) => Number(a - b))
        assert.deepEqual(positionsIn(rangesOf(positions)), sorted)
      }),
    )
  })
})
