import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createKernel, matrix, transposed, type Floats } from '../../../src/engine/kernel.js'

const product = (
  left: readonly (readonly number[])[],
  right: readonly (readonly number[])[],
): readonly (readonly number[])[] =>
  left.map((row) => right[0]!.map((_, j) => row.reduce((sum, value, k) => sum + value * right[k]![j]!, 0)))

const flipped = (rows: readonly (readonly number[])[]): readonly (readonly number[])[] =>
  rows[0]!.map((_, column) => rows.map((row) => row[column]!))

/** Small integers: their sums of products are exact in float32. */
const grid = (rows: number, columns: number, seed: number): readonly (readonly number[])[] =>
  Array.from({ length: rows }, (_, i) =>
    Array.from({ length: columns }, (__, j) => ((i * 31 + j * 17 + seed * 7) % 13) - 6),
  )

const filled = (floats: Floats, rows: readonly (readonly number[])[]): Floats => {
  floats.set(rows.flat())
  return floats
}

const size = fc.integer({ min: 1, max: 70 })

describe('the matrix kernel', () => {
  it('equals plain loops for any sizes, transposed or not, and adds to the target', () => {
    fc.assert(
      fc.property(size, size, size, fc.boolean(), fc.boolean(), (rows, inner, columns, flipA, flipB) => {
        const [a, b, before] = [grid(rows, inner, 1), grid(inner, columns, 2), grid(rows, columns, 3)]
        const kernel = createKernel(4 * 70 * 70)
        const left = flipA
          ? transposed(matrix(filled(kernel.floats(rows * inner), flipped(a)), rows))
          : matrix(filled(kernel.floats(rows * inner), a), inner)
        const right = flipB
          ? transposed(matrix(filled(kernel.floats(inner * columns), flipped(b)), inner))
          : matrix(filled(kernel.floats(inner * columns), b), columns)
        const target = filled(kernel.floats(rows * columns), before)
        kernel.multiplyAdd(left, right, matrix(target, columns), rows, inner, columns)
        const expected = product(a, b).map((row, i) => row.map((value, j) => value + before[i]![j]!))
        assert.deepEqual([...target], expected.flat())
      }),
    )
  })

  it('handles inner dimensions beyond one pass', () => {
    const [rows, inner, columns] = [5, 1300, 19]
    const [a, b] = [grid(rows, inner, 4), grid(inner, columns, 5)]
    const kernel = createKernel((rows + columns) * inner + rows * columns)
    const target = kernel.floats(rows * columns)
    const left = matrix(filled(kernel.floats(rows * inner), a), inner)
    const right = matrix(filled(kernel.floats(inner * columns), b), columns)
    kernel.multiplyAdd(left, right, matrix(target, columns), rows, inner, columns)
    assert.deepEqual([...target], product(a, b).flat())
  })

  it('leaves floats around a part of a matrix alone', () => {
    const kernel = createKernel(1000)
    const [target, ones] = [kernel.floats(100).fill(7), kernel.floats(100).fill(1)]
    kernel.multiplyAdd(matrix(ones, 10), matrix(ones, 10), matrix(target, 10, 11), 3, 2, 5)
    const isInside = (index: number): boolean => index >= 11 && index < 41 && (index - 11) % 10 < 5
    assert.deepEqual(
      [...target],
      Array.from({ length: 100 }, (_, index) => (isInside(index) ? 9 : 7)),
    )
  })
})
