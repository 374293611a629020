import assert from 'node:assert/strict'
import fc from 'fast-check'
import { sorted, sortedAfter } from '../../../src/kernel/sorted.js'

const entries = fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.integer()), { maxLength: 200 })
const byKey = (a: readonly [string, unknown], b: readonly [string, unknown]) => (a[0] < b[0] ? -1 : 1)

describe('the entries of a map in the order of their keys', () => {
  it('begin after any text, be it a key or not', () =>
    fc.assert(
      fc.property(entries, fc.option(fc.string({ maxLength: 3 }), { nil: undefined }), (given, after) => {
        const map = new Map(given)
        const expected = [...map].filter(([key]) => after === undefined || key > after).sort(byKey)
        assert.deepEqual([...sortedAfter(map, after)], expected)
        assert.deepEqual(
          sorted(map.keys(), after),
          expected.map(([key]) => key),
        )
      }),
    ))

  it('are none of a map that is not there', () => {
    assert.deepEqual([...sortedAfter(undefined, 'a')], [])
  })
})
