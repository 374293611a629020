import type { Floats } from './kernel.js'

/** Layers without a matrix product. Matrices are row-major, with contiguous rows. */

const EPSILON = 1e-5

/** Scales each row to a root mean square of 1, then by `gain`. `inverses` takes the factor of each row. */
export const normalise = (
  input: Floats,
  gain: Floats,
  output: Floats,
  inverses: Floats,
  rows: number,
): void => {
  const width = gain.length
  for (let row = 0, start = 0; row < rows; row += 1, start += width) {
    let squares = 0
    for (let i = start; i < start + width; i += 1) squares += input[i]! * input[i]!
    const inverse = 1 / Math.sqrt(squares / width + EPSILON)
    inverses[row] = inverse
    for (let i = 0; i < width; i += 1) output[start + i] = input[start + i]! * inverse * gain[i]!
  }
}

/** Adds to the gradients of the input and of the gain. */
export const normaliseBackward = (
  input: Floats,
  gain: Floats,
  inverses: Floats,
  outputGradient: Floats,
  inputGradient: Floats,
  gainGradient: Floats,
  rows: number,
): void => {
  const width = gain.length
  for (let row = 0, start = 0; row < rows; row += 1, start += width) {
    const inverse = inverses[row]!
    let product = 0
    for (let i = 0; i < width; i += 1) {
      const scaled = input[start + i]! * outputGradient[start + i]!
      product += scaled * gain[i]!
      gainGradient[i]! += scaled * inverse
    }
    const common = (product * inverse * inverse) / width
    for (let i = 0; i < width; i += 1)
      inputGradient[start + i]! +=
        inverse * (gain[i]! * outputGradient[start + i]! - input[start + i]! * common)
  }
}

/** Replaces each element by the square of its positive part; `positive` takes the positive part. */
export const squaredRelu = (elements: Floats, positive: Floats, count: number): void => {
  for (let i = 0; i < count; i += 1) {
    const value = Math.max(0, elements[i]!)
    positive[i] = value
    elements[i] = value * value
  }
}

/** Turns the gradient of the squares into that of the elements. */
export const squaredReluBackward = (positive: Floats, gradient: Floats, count: number): void => {
  for (let i = 0; i < count; i += 1) gradient[i]! *= 2 * positive[i]!
}

/** What a row of logits means for one target. */
export interface TargetProbability {
  readonly logprob: number
  readonly entropy: number
}

/** Turns a row of logits into probabilities, in place. */
export const softmaxRow = (
  logits: Floats,
  start: number,
  length: number,
  target: number,
): TargetProbability => {
  const end = start + length
  let largest = -Infinity
  for (let i = start; i < end; i += 1) if (logits[i]! > largest) largest = logits[i]!
  const ofTarget = logits[start + target]! - largest
  let sum = 0
  let weighted = 0
  for (let i = start; i < end; i += 1) {
    const shifted = logits[i]! - largest
    const power = Math.exp(shifted)
    sum += power
    weighted += power * shifted
    logits[i] = power
  }
  const scale = 1 / sum
  for (let i = start; i < end; i += 1) logits[i]! *= scale
  const logSum = Math.log(sum)
  return { logprob: ofTarget - logSum, entropy: logSum - weighted * scale }
}
