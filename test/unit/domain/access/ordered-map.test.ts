import assert from 'node:assert/strict'
import fc from 'fast-check'
import { OrderedMap } from '../../../../src/domain/access/ordered-map.js'

const entries = fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.integer()), { maxLength: 200 })
const filled = (from: readonly (readonly [string, number])[]) =>
  from.reduce((map, [key, value]) => map.set(key, value), new OrderedMap<number>())
const byKey = (a: readonly [string, unknown], b: readonly [string, unknown]) => (a[0] < b[0] ? -1 : 1)

describe('an ordered map', () => {
  it('holds what a Map holds, in the order of the keys', () => {
    fc.assert(
      fc.property(entries, (given) => {
        const expected = [...new Map(given)].sort(byKey)
        const map = filled(given)
        assert.deepEqual([...map.entries()], expected)
        assert.equal(map.isEmpty, expected.length === 0)
        for (const [key, value] of expected) assert.equal(map.get(key), value)
      }),
    )
  })

  it('goes on behind any text, be it a key or not', () => {
    fc.assert(
      fc.property(entries, fc.string({ maxLength: 3 }), (given, after) => {
        const expected = [...new Map(given)].filter(([key]) => key > after).sort(byKey)
        assert.deepEqual([...filled(given).entries(after)], expected)
      }),
    )
  })

  it('never changes: setting makes another map', () => {
    fc.assert(
      fc.property(entries, fc.string({ maxLength: 3 }), (given, key) => {
        const map = filled(given)
        const before = [...map.entries()]
        map.set(key, Number.NaN)
        assert.deepEqual([...map.entries()], before)
      }),
    )
  })

  it('stays balanced when keys come in order', () => {
    let map = new OrderedMap<number>()
    for (let i = 0; i < 10_000; i += 1) map = map.set(String(i).padStart(5, '0'), i)
    const { root } = map as unknown as { root: { height: number } }
    assert.ok(root.height <= 1.45 * Math.log2(10_001), `height ${root.height}`)
  })
})
