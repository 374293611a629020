import assert from 'node:assert/strict'
import fc from 'fast-check'
import { addedChildren, type CallSum } from '../../../../src/domain/usage/added-children.js'

const arbitrarySum: fc.Arbitrary<CallSum> = fc.tuple(
  fc.integer({ min: 1, max: 3 }),
  fc.nat(2),
  fc.nat(1000),
  fc.nat(100),
)

const sumOf = (sums: readonly CallSum[]): CallSum =>
  [0, 1, 2, 3].map((k) => sums.reduce((all, one) => all + one[k]!, 0)) as unknown as CallSum

describe('the children in the sum of a parent', () => {
  it('make exactly the sum where some are of another process, whichever these are', () =>
    fc.assert(
      fc.property(fc.array(fc.tuple(arbitrarySum, fc.boolean()), { maxLength: 10 }), (children) => {
        const all = children.map(([sum]) => sum)
        const room = sumOf(children.flatMap(([sum, isAdded]) => (isAdded ? [sum] : [])))
        const added = addedChildren(room, all)
        assert.deepEqual(sumOf(all.filter((_, index) => added.has(index))), room)
      }),
    ))

  it('never count more than the parent, whatever its sum is', () =>
    fc.assert(
      fc.property(fc.array(arbitrarySum, { maxLength: 10 }), arbitrarySum, (children, room) => {
        const added = addedChildren(room, children)
        const sum = sumOf(children.filter((_, index) => added.has(index)))
        assert.ok(sum.every((count, k) => count <= room[k]!))
      }),
    ))

  it('are found among many', () => {
    const children = Array.from({ length: 5000 }, (_, n): CallSum => [1, 1, 1000 + n, n % 7])
    const strangers = new Set([0, 7, 4999])
    const room = sumOf(children.filter((_, index) => !strangers.has(index)))
    assert.ok(addedChildren(room, children).size > 4900)
  })

  it('are the largest that fit where no children make the sum', () =>
    assert.deepEqual(
      [
        ...addedChildren(
          [1, 2, 15, 0],
          [
            [1, 1, 7, 0],
            [1, 1, 10, 0],
            [1, 1, 20, 0],
          ],
        ),
      ],
      [1],
    ))
})
