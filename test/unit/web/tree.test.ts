import assert from 'node:assert/strict'
import fc from 'fast-check'
import { treeOf, visibleRows, withAncestors, type Folding } from '../../../web/traces/tree.js'

const NOTHING: Folding = {
  closed: new Set(),
  openFolds: new Set(),
  ops: [],
  isFailed: () => false,
  selected: -1,
}

describe('the tree of a trace', () => {
  it('is depth-first, siblings in the order of rows', () => {
    const { order, depth, size, above } = treeOf([-1, 0, 0, 1, -1, 2])
    assert.deepEqual([...order], [0, 1, 3, 2, 5, 4])
    assert.deepEqual([...depth], [0, 1, 2, 1, 2, 0])
    assert.deepEqual([...size], [5, 2, 1, 2, 1, 1])
    assert.deepEqual([...above], [-1, 0, 1, 0, 3, -1])
  })

  it('has every call once, below its parent, whatever the parents', () => {
    const parents = fc
      .nat(60)
      .chain((count) =>
        fc.array(fc.integer({ min: -1, max: Math.max(-1, count - 1) }), {
          minLength: count,
          maxLength: count,
        }),
      )
    fc.assert(
      fc.property(parents, (parent) => {
        const { order, placeOf, depth, size, above } = treeOf(parent)
        assert.deepEqual(
          [...order].sort((a, b) => a - b),
          [...parent.keys()],
        )
        for (const [place, row] of order.entries()) {
          assert.equal(placeOf[row], place)
          if (above[place]! < 0) continue
          assert.equal(order[above[place]!], parent[row])
          assert.equal(depth[place], depth[above[place]!]! + 1)
          assert.ok(place < above[place]! + size[above[place]!]!)
        }
      }),
    )
  })

  it('hides what is below a closed call', () => {
    const tree = treeOf([-1, 0, 1, 0])
    const rows = visibleRows(tree, { ...NOTHING, ops: [0, 1, 2, 3], closed: new Set([1]) })
    assert.deepEqual(rows, [
      { kind: 'call', place: 0 },
      { kind: 'call', place: 1 },
      { kind: 'call', place: 3 },
    ])
  })

  it('folds equal siblings of a parent, but no failure and not the selected call', () => {
    const count = 100
    const tree = treeOf([-1, ...Array.from({ length: count }, () => 0)])
    const ops = [0, ...Array.from({ length: count }, () => 1)]
    const folding = { ...NOTHING, ops, isFailed: (row: number) => row === 30, selected: 60 }
    const rows = visibleRows(tree, folding)
    assert.deepEqual(
      rows.map((row) => (row.kind === 'fold' ? row.places.length : `call ${row.place}`)),
      ['call 0', 98, 'call 30', 'call 60'],
    )
    const key = rows.flatMap((row) => (row.kind === 'fold' ? [row.key] : []))
    const opened = visibleRows(tree, { ...folding, openFolds: new Set(key) })
    assert.deepEqual(
      opened,
      [...tree.order.keys()].map((place) => ({ kind: 'call', place })),
    )
  })

  it('folds an op whose calls alternate with others', () => {
    const tree = treeOf([-1, ...Array.from({ length: 200 }, () => 0)])
    const ops = [0, ...Array.from({ length: 200 }, (_, n) => (n % 10 === 9 ? 2 : 1))]
    assert.deepEqual(
      visibleRows(tree, { ...NOTHING, ops }).map((row) => (row.kind === 'fold' ? row.places.length : 'call')),
      ['call', 180, 20],
    )
  })

  it('shows some calls alone with all that are above them', () => {
    const tree = treeOf([-1, 0, 1, 0, 3])
    const isShown = withAncestors(tree, (place) => place === 2)
    assert.deepEqual(
      visibleRows(tree, { ...NOTHING, ops: [0, 0, 0, 0, 0], isShown }),
      [0, 1, 2].map((place) => ({ kind: 'call', place })),
    )
  })

  it('shows each call once or folded once', () => {
    const given = fc.array(fc.record({ above: fc.nat(3), op: fc.nat(1), isFailed: fc.boolean() }), {
      maxLength: 120,
    })
    fc.assert(
      fc.property(given, (calls) => {
        const tree = treeOf(calls.map(({ above }, n) => (n === 0 ? -1 : Math.min(above, n - 1))))
        const rows = visibleRows(tree, {
          ...NOTHING,
          ops: calls.map(({ op }) => op),
          isFailed: (row) => calls[row]!.isFailed,
        })
        const places = rows.flatMap((row) => (row.kind === 'fold' ? row.places : [row.place]))
        assert.deepEqual(
          places.toSorted((a, b) => a - b),
          [...calls.keys()],
        )
      }),
    )
  })
})
