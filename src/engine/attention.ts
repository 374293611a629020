import { matrix, transposed, type Floats, type Kernel, type Matrix } from './kernel.js'
import type { ModelShape } from './shape.js'

/** Queries of one product. It spans the keys up to its last query, which skips most of what the causal mask hides. */
const BLOCK = 64

/** Sequences of equal length: rows of activations are those of the first sequence, then those of the second … */
export interface BatchSize {
  readonly sequences: number
  /** A multiple of 8. */
  readonly length: number
}

/**
 * Rows of `projected` hold queries, keys and values of all heads. `probabilities` takes a square matrix for each sequence
 * and head, `scores` is scratch of one.
 */
interface AttentionBuffers {
  readonly projected: Floats
  readonly probabilities: Floats
}

export interface Attention {
  /** Writes the weighted values of all heads to `output`. */
  readonly forward: (buffers: AttentionBuffers, output: Floats, size: BatchSize) => void
  /** Writes the gradient of `projected`. */
  readonly backward: (
    buffers: AttentionBuffers,
    outputGradient: Floats,
    projectedGradient: Floats,
    size: BatchSize,
  ) => void
}

export const attention = (kernel: Kernel, { width, heads, context }: ModelShape): Attention => {
  const headWidth = width / heads
  const scale = 1 / Math.sqrt(headWidth)
  const scores = kernel.floats(BLOCK * context)

  const forEachBlock = (
    { sequences, length }: BatchSize,
    visit: (row: number, head: number, square: number, from: number, to: number) => void,
  ): void => {
    for (let sequence = 0; sequence < sequences; sequence += 1)
      for (let head = 0; head < heads; head += 1)
        for (let from = 0; from < length; from += BLOCK) {
          const square = (sequence * heads + head) * length * length
          visit(sequence * length, head, square, from, Math.min(length, from + BLOCK))
        }
  }

  /** The matrix of one head, from a row on. `part` is 0 for queries, 1 for keys and 2 for values. */
  const part = (projected: Floats, row: number, head: number, index: 0 | 1 | 2): Matrix =>
    matrix(projected, 3 * width, row * 3 * width + index * width + head * headWidth)
  const ofHead = (rows: Floats, row: number, head: number): Matrix =>
    matrix(rows, width, row * width + head * headWidth)

  return {
    forward: ({ projected, probabilities }, output, size) => {
      output.fill(0, 0, size.sequences * size.length * width)
      forEachBlock(size, (row, head, square, from, to) => {
        const block = matrix(probabilities, size.length, square + from * size.length)
        for (let i = from; i < to; i += 1) {
          const start = square + i * size.length
          probabilities.fill(0, start, start + to)
        }
        const [queries, keys] = [part(projected, row + from, head, 0), part(projected, row, head, 1)]
        kernel.multiplyAdd(queries, transposed(keys), block, to - from, headWidth, to)
        for (let i = from; i < to; i += 1)
          causalSoftmax(probabilities, square + i * size.length, i + 1, to, scale)
        const values = part(projected, row, head, 2)
        kernel.multiplyAdd(block, values, ofHead(output, row + from, head), to - from, to, headWidth)
      })
    },
    backward: ({ projected, probabilities }, outputGradient, projectedGradient, size) => {
      projectedGradient.fill(0, 0, size.sequences * size.length * 3 * width)
      forEachBlock(size, (row, head, square, from, to) => {
        const [rows, block] = [to - from, matrix(probabilities, size.length, square + from * size.length)]
        const [ofOutput, ofScores] = [ofHead(outputGradient, row + from, head), matrix(scores, to)]
        const gradientOf = (first: number, index: 0 | 1 | 2): Matrix =>
          part(projectedGradient, first, head, index)
        kernel.multiplyAdd(transposed(block), ofOutput, gradientOf(row, 2), to, rows, headWidth)
        scores.fill(0, 0, rows * to)
        kernel.multiplyAdd(ofOutput, transposed(part(projected, row, head, 2)), ofScores, rows, headWidth, to)
        for (let i = from; i < to; i += 1)
          softmaxBackward(probabilities, square + i * size.length, scores, (i - from) * to, i + 1, to, scale)
        const [queries, keys] = [part(projected, row + from, head, 0), part(projected, row, head, 1)]
        kernel.multiplyAdd(ofScores, keys, gradientOf(row + from, 0), rows, to, headWidth)
        kernel.multiplyAdd(transposed(ofScores), queries, gradientOf(row, 1), to, rows, headWidth)
      })
    },
  }
}

/** Softmax over the first `visible` of `length` scores; the others become 0. */
export const causalSoftmax = (
  scores: Floats,
  start: number,
  visible: number,
  length: number,
  scale: number,
): void => {
  const end = start + visible
  let largest = -Infinity
  for (let i = start; i < end; i += 1) if (scores[i]! > largest) largest = scores[i]!
  let sum = 0
  for (let i = start; i < end; i += 1) {
    const power = Math.exp((scores[i]! - largest) * scale)
    sum += power
    scores[i] = power
  }
  const inverse = 1 / sum
  for (let i = start; i < end; i += 1) scores[i]! *= inverse
  scores.fill(0, end, start + length)
}

/** Turns the gradient of a row of probabilities into that of its scores. */
const softmaxBackward = (
  probabilities: Floats,
  start: number,
  gradient: Floats,
  gradientStart: number,
  visible: number,
  length: number,
  scale: number,
): void => {
  let product = 0
  for (let i = 0; i < visible; i += 1) product += probabilities[start + i]! * gradient[gradientStart + i]!
  for (let i = 0; i < visible; i += 1)
    gradient[gradientStart + i] = probabilities[start + i]! * (gradient[gradientStart + i]! - product) * scale
  gradient.fill(0, gradientStart + visible, gradientStart + length)
}
