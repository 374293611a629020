import assert from 'node:assert/strict'
import fc from 'fast-check'
import { PassingMap, PassingSet } from '../../../src/domain/passing.js'

const key = fc.integer({ min: 0, max: 12 })
const doing = <D extends string>(does: D) => fc.record({ does: fc.constant(does), key })
/** Long enough to begin anew several times. */
const steps = fc.array(
  fc.oneof(
    { weight: 200, arbitrary: doing('set') },
    { weight: 200, arbitrary: doing('delete') },
    { weight: 1, arbitrary: doing('clear') },
  ),
  { minLength: 300, maxLength: 900, size: 'max' },
)

describe('what comes and goes', () => {
  it('is in a passing map as it would be in a map, in the same order', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const passing = new PassingMap<number, number>()
        const map = new Map<number, number>()
        for (const [place, { does, key }] of all.entries()) {
          if (does === 'set') assert.equal(passing.set(key, place), passing)
          if (does === 'set') map.set(key, place)
          if (does === 'delete') assert.equal(passing.delete(key), map.delete(key))
          if (does === 'clear') passing.clear()
          if (does === 'clear') map.clear()
          assert.equal(passing.get(key), map.get(key))
          assert.equal(passing.has(key), map.has(key))
          assert.equal(passing.size, map.size)
        }
        assert.deepEqual([...passing], [...map])
        assert.deepEqual([...passing.keys()], [...map.keys()])
        assert.deepEqual([...passing.values()], [...map.values()])
      }),
      { numRuns: 50 },
    )
  })

  it('is in a passing set as it would be in a set, in the same order', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const passing = new PassingSet<number>()
        const set = new Set<number>()
        for (const { does, key } of all) {
          if (does === 'set') assert.equal(passing.add(key), passing)
          if (does === 'set') set.add(key)
          if (does === 'delete') assert.equal(passing.delete(key), set.delete(key))
          if (does === 'clear') passing.clear()
          if (does === 'clear') set.clear()
          assert.equal(passing.has(key), set.has(key))
          assert.equal(passing.size, set.size)
        }
        assert.deepEqual([...passing], [...set])
      }),
      { numRuns: 50 },
    )
  })

  it('may be taken out while it is read', () => {
    const passing = new PassingMap<number, string>()
    for (let n = 0; n < 500; n += 1) passing.set(n, String(n))
    for (const n of passing.keys()) if (n % 2 === 0) passing.delete(n)
    assert.deepEqual(
      [...passing.keys()],
      Array.from({ length: 250 }, (_, n) => 2 * n + 1),
    )
  })
})
