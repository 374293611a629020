import { adamStep, clipGradients, noMoments } from './adam.js'
import { shapeOf, type ModelState } from './checkpoint.js'
import { SequenceInvalid, TrainingDiverged } from './errors.js'
import { batchRows, createNetwork, type TokenBatch } from './network.js'
import { checkTokens, VOCABULARY } from './tokens.js'

/** Tokens of a conversation. The mask selects those whose probability is trained, the targets. */
export interface MaskedSequence {
  readonly tokens: readonly number[]
  readonly mask: readonly boolean[]
}

/** For each target of a sequence, in order. */
export interface SequenceProbabilities {
  readonly logprobs: Float64Array
  readonly entropies: Float64Array
}

/** Returns the derivative of the loss by the logprob of each target. */
export type DerivativesOf = (index: number, probabilities: SequenceProbabilities) => Float64Array

export interface Trainer {
  /** Adds the gradients of the sequences to those of the step. */
  readonly addGradients: (sequences: readonly MaskedSequence[], derivativesOf: DerivativesOf) => void
  /** Visits probabilities without training. */
  readonly evaluate: (
    sequences: readonly MaskedSequence[],
    visit: (index: number, probabilities: SequenceProbabilities) => void,
  ) => void
  /** Ends a step: clips the gradients and updates the weights. Returns the norm of the gradients before. */
  readonly update: (learningRate: number) => number
  /** @throws TrainingDiverged for a model that could not answer: its weights or logits are not finite */
  readonly state: () => ModelState
}

const LARGEST_NORM = 1
/** Padded lengths are multiples of this, the width of a panel of the matrix kernel. */
const LENGTH_STEP = 8

export const fitsContext = (baseModel: string, { tokens }: MaskedSequence): boolean =>
  tokens.length <= shapeOf(baseModel).context

/** The first token is never a target: no token before it predicts it. */
export const targetCount = ({ mask }: MaskedSequence): number =>
  mask.reduce((count, isTarget, index) => count + Number(isTarget && index > 0), 0)

/**
 * @param beforeBatch is called before each batch of a pass; an error that it throws ends the pass.
 */
export const createTrainer = (from: ModelState, beforeBatch: () => void = () => {}): Trainer => {
  const shape = shapeOf(from.baseModel)
  const network = createNetwork(shape)
  const { weights, gradients } = network
  weights.set(from.weights)
  const moments = noMoments(weights.length)
  if (from.moments !== null) {
    moments.first.set(from.moments.first)
    moments.second.set(from.moments.second)
  }
  let updates = from.updates
  let isTrained = from.moments !== null

  const pass = (
    sequences: readonly MaskedSequence[],
    visit: (index: number, probabilities: SequenceProbabilities) => Float64Array | undefined,
  ): void => {
    sequences.forEach(checkSequence)
    for (const indexes of batchesOf(sequences, batchRows(shape))) {
      beforeBatch()
      const batch = tokenBatch(indexes.map((index) => sequences[index]!))
      const { logprobs, entropies } = network.forward(batch)
      const derivatives = new Float64Array(logprobs.length)
      let start = 0
      let isBackward = false
      for (const index of indexes) {
        const end = start + targetCount(sequences[index]!)
        const ofSequence = visit(index, {
          logprobs: logprobs.subarray(start, end),
          entropies: entropies.subarray(start, end),
        })
        if (ofSequence !== undefined) {
          derivatives.set(ofSequence, start)
          isBackward = true
        }
        start = end
      }
      if (isBackward) network.backward(batch, derivatives)
    }
  }

  const evaluate: Trainer['evaluate'] = (sequences, visit) =>
    pass(sequences, (index, probabilities) => {
      visit(index, probabilities)
      return undefined
    })

  return {
    addGradients: pass,
    evaluate,
    update: (learningRate) => {
      const norm = clipGradients(gradients, LARGEST_NORM)
      if (!Number.isFinite(norm))
        throw new TrainingDiverged('The gradient is not finite. Use a lower learning rate.')
      if (learningRate !== 0) {
        updates += 1
        isTrained = true
        adamStep(weights, gradients, moments, updates, learningRate)
      }
      gradients.fill(0)
      return norm
    },
    state: () => {
      if (!weights.every(Number.isFinite))
        throw new TrainingDiverged('The weights are not finite. Use a lower learning rate.')
      // Finite weights may be so large that products of them are not.
      evaluate([everyToken(shape.context)], (_, { logprobs }) => {
        if (!logprobs.every(Number.isFinite))
          throw new TrainingDiverged('The logits of the model are not finite. Use a lower learning rate.')
      })
      return {
        baseModel: from.baseModel,
        weights: Float32Array.from(weights),
        moments: isTrained ? { first: moments.first.slice(), second: moments.second.slice() } : null,
        updates,
      }
    },
  }
}

/** Has every token and every position. */
const everyToken = (context: number): MaskedSequence => {
  const tokens = Array.from({ length: context }, (_, position) => position % VOCABULARY)
  return { tokens, mask: tokens.map(() => true) }
}

const checkSequence = ({ tokens, mask }: MaskedSequence): void => {
  if (tokens.length !== mask.length)
    throw new SequenceInvalid(`A sequence has ${tokens.length} tokens and a mask of ${mask.length}.`)
  checkTokens(tokens)
}

const paddedLength = ({ tokens }: MaskedSequence): number =>
  Math.ceil(tokens.length / LENGTH_STEP) * LENGTH_STEP

/** Indexes of sequences, those of similar lengths together, with at most `rows` rows a batch once padded. */
const batchesOf = (sequences: readonly MaskedSequence[], rows: number): readonly (readonly number[])[] => {
  const lengths = sequences.map(paddedLength)
  const order = [...sequences.keys()].sort((a, b) => lengths[b]! - lengths[a]! || a - b)
  const batches: number[][] = []
  for (const index of order) {
    const last = batches.at(-1)
    if (last !== undefined && lengths[last[0]!]! * (last.length + 1) <= rows) last.push(index)
    else batches.push([index])
  }
  return batches
}

const tokenBatch = (sequences: readonly MaskedSequence[]): TokenBatch => {
  const length = Math.max(...sequences.map(paddedLength))
  const tokens = new Int32Array(sequences.length * length)
  const [targetRows, targets]: [number[], number[]] = [[], []]
  for (const [sequence, { tokens: own, mask }] of sequences.entries())
    for (const [position, token] of own.entries()) {
      const row = sequence * length + position
      tokens[row] = token
      if (mask[position] === true && position > 0) {
        targetRows.push(row - 1)
        targets.push(token)
      }
    }
  return {
    sequences: sequences.length,
    length,
    tokens,
    targetRows: Int32Array.from(targetRows),
    targets: Int32Array.from(targets),
  }
}
