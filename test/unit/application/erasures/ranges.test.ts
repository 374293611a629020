import assert from 'node:assert/strict'
import fc from 'fast-check'
import { rangesOf } from '../../../../src/application/erasures/erase-events.js'

const positionsIn = (ranges: string): readonly bigint[] =>
  ranges
    .split(',')
    .filter((range) => range !== '')
    .flatMap((range) => {
      const [first, last = first] = range.split('-').map(BigInt)
      return Array.from({ length: Number(last! - first!) + 1 }, (_, at) => first! + BigInt(at))
    })

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
