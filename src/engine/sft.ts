import type { ModelState } from './checkpoint.js'
import { TrainingDiverged } from './errors.js'
import { createTrainer, fitsContext, targetCount, type MaskedSequence } from './trainer.js'

/** A conversation whose masked tokens are learnt. */
export type SftExample = MaskedSequence

export interface SftMetrics {
  /** The mean of −log(probability) over the trainable tokens of the batch, before the step. */
  readonly loss: number
  readonly grad_norm: number
  readonly learning_rate: number
  readonly num_trajectories: number
  readonly num_tokens: number
  readonly num_trainable_tokens: number
  /** Examples that are longer than the context, or have no trainable token. */
  readonly num_dropped_trajectories: number
}

export interface SftTraining {
  /** @throws TrainingDiverged, SequenceInvalid */
  readonly step: (batch: readonly SftExample[], learningRate: number) => SftMetrics
  readonly state: () => ModelState
}

const sum = (values: Iterable<number>): number => {
  let total = 0
  for (const value of values) total += value
  return total
}

/** Supervised fine-tuning from a state on. Equal input gives equal states. */
export const startSft = (from: ModelState, beforeBatch?: () => void): SftTraining => {
  const trainer = createTrainer(from, beforeBatch)
  return {
    step: (batch, learningRate) => {
      const fitting = batch.filter((example) => fitsContext(from.baseModel, example))
      const examples = fitting.filter((example) => targetCount(example) > 0)
      const trainable = sum(examples.map(targetCount))
      let loss = 0
      trainer.addGradients(fitting, (_, { logprobs }) => {
        loss -= sum(logprobs)
        return new Float64Array(logprobs.length).fill(-1 / trainable)
      })
      if (!Number.isFinite(loss))
        throw new TrainingDiverged('The loss is not finite. Use a lower learning rate.')
      return {
        loss: loss / Math.max(1, trainable),
        grad_norm: trainable === 0 ? 0 : trainer.update(learningRate),
        learning_rate: learningRate,
        num_trajectories: examples.length,
        num_tokens: sum(examples.map(({ tokens }) => tokens.length)),
        num_trainable_tokens: trainable,
        num_dropped_trajectories: batch.length - examples.length,
      }
    },
    state: trainer.state,
  }
}

/** The mean of −log(probability) over the trainable tokens, without training; null if there are none. */
export const meanLoss = (
  state: ModelState,
  examples: readonly SftExample[],
  beforeBatch?: () => void,
): number | null => {
  const fitting = examples.filter((example) => fitsContext(state.baseModel, example))
  let [loss, count] = [0, 0]
  createTrainer(state, beforeBatch).evaluate(fitting, (_, { logprobs }) => {
    loss -= sum(logprobs)
    count += logprobs.length
  })
  return count === 0 ? null : loss / count
}
