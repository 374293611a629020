import assert from 'node:assert/strict'
import fc from 'fast-check'
import { criticalPath } from '../../../web/traces/critical-path.js'
import { treeOf } from '../../../web/traces/tree.js'

describe('the critical path of a trace', () => {
  it('goes through the calls that ended last', () => {
    // 0: a root that calls 1 and 2 at once, and then 3, which calls 4.
    const tree = treeOf([-1, 0, 0, 0, 3])
    const times = { starts: [0, 1, 1, 7, 7], ends: [10, 3, 6, 9, 9] }
    assert.deepEqual(criticalPath(times, tree, 0), [
      { row: 0, from: 9, to: 10 },
      { row: 4, from: 7, to: 9 },
      { row: 0, from: 6, to: 7 },
      { row: 2, from: 1, to: 6 },
      { row: 0, from: 0, to: 1 },
    ])
  })

  it('covers the time of the root once, with calls that run then, whatever their times', () => {
    const call = fc.record({ parent: fc.nat(), start: fc.nat(50), length: fc.nat(30) })
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 40 }), (calls) => {
        const parents = calls.map(({ parent }, row) => (row === 0 ? -1 : parent % row))
        const starts = calls.map(({ start }) => start)
        const ends = calls.map(({ start, length }) => start + length)
        const tree = treeOf(parents)
        let known = ends[0]!
        for (const { row, from, to } of criticalPath({ starts, ends }, tree, 0)) {
          assert.equal(to, known)
          assert.ok(from < to)
          known = from
          for (let at = row; at >= 0; at = parents[at]!) assert.ok(starts[at]! <= from && to <= ends[at]!)
          for (const [child, parent] of parents.entries())
            if (parent === row && starts[child]! < ends[child]!)
              assert.ok(ends[child]! <= from || ends[child]! > to || starts[child]! >= to)
        }
        assert.equal(known, starts[0])
      }),
    )
  })

  it('is found in a trace that is nested deeper than functions can be', () => {
    const count = 20_000
    const parents = Array.from({ length: count }, (_, row) => row - 1)
    const ends = parents.map(() => 1)
    assert.deepEqual(criticalPath({ starts: parents.map(() => 0), ends }, treeOf(parents), 0), [
      { row: count - 1, from: 0, to: 1 },
    ])
  })
})
