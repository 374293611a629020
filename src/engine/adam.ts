/** Running means of the gradients and of their squares. */
export interface Moments {
  readonly first: Float32Array
  readonly second: Float32Array
}

const FIRST_DECAY = 0.9
const SECOND_DECAY = 0.99
const EPSILON = 1e-8

export const noMoments = (length: number): Moments => ({
  first: new Float32Array(length),
  second: new Float32Array(length),
})

/** Scales the gradients down to a norm of `limit` at most. Returns the norm before. */
export const clipGradients = (gradients: Float32Array, limit: number): number => {
  let squares = 0
  for (const value of gradients) squares += value * value
  const norm = Math.sqrt(squares)
  if (norm > limit) {
    const scale = limit / norm
    for (let i = 0; i < gradients.length; i += 1) gradients[i]! *= scale
  }
  return norm
}

/** One step of Adam, in place. `update` counts from 1. */
export const adamStep = (
  weights: Float32Array,
  gradients: Float32Array,
  { first, second }: Moments,
  update: number,
  learningRate: number,
): void => {
  const rate = learningRate / (1 - FIRST_DECAY ** update)
  const correction = 1 / (1 - SECOND_DECAY ** update)
  for (let i = 0; i < weights.length; i += 1) {
    const gradient = gradients[i]!
    const mean = FIRST_DECAY * first[i]! + (1 - FIRST_DECAY) * gradient
    const square = SECOND_DECAY * second[i]! + (1 - SECOND_DECAY) * gradient * gradient
    first[i] = mean
    second[i] = square
    weights[i]! -= (rate * mean) / (Math.sqrt(square * correction) + EPSILON)
  }
}
