import { randomNumbers } from './random.js'
import { weightCount, weightSections, type ModelShape } from './shape.js'

/** The standard deviation of the weights of the head: small, so that a new model finds every token about as likely. */
const HEAD = 0.02

/** Random weights, equal for equal seeds. Gains are 1. */
export const initialWeights = (shape: ModelShape, seed: number): Float32Array => {
  const random = randomNumbers(seed)
  const weights = new Float32Array(weightCount(shape))
  const deviationOf = (name: string, rows: number): number => {
    if (name === 'output.head') return HEAD
    if (name === 'token_embedding') return 0.5
    if (name === 'position_embedding') return 0.1
    return 1 / Math.sqrt(name.endsWith('.output') ? 2 * shape.layers * rows : rows)
  }
  for (const { name, start, rows, columns } of weightSections(shape)) {
    const part = weights.subarray(start, start + rows * columns)
    if (name.endsWith('norm')) part.fill(1)
    else {
      // Uniform numbers of this range have the standard deviation.
      const range = deviationOf(name, rows) * Math.sqrt(3)
      for (let i = 0; i < part.length; i += 1) part[i] = (2 * random() - 1) * range
    }
  }
  return weights
}
