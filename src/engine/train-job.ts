import { baseState, decodeCheckpoint, encodeCheckpoint, type ModelState } from './checkpoint.js'
import { CheckpointInvalid } from './errors.js'
import type { Metrics, RlJob, SftJob } from './protocol.js'
import { trainRl } from './rl.js'
import { meanLoss, startSft } from './sft.js'

export interface TrainedCheckpoint {
  readonly checkpoint: Uint8Array
  readonly gradientSteps: number
}

/** @throws CheckpointInvalid */
const stateOf = (checkpoint: Uint8Array | null, baseModel: string): ModelState => {
  if (checkpoint === null) return baseState(baseModel)
  const state = decodeCheckpoint(checkpoint)
  if (state.baseModel !== baseModel)
    throw new CheckpointInvalid(`The checkpoint is of base model ${state.baseModel}, not ${baseModel}.`)
  return state
}

export const runSft = (
  { checkpoint, baseModel, batches, validation = [] }: SftJob,
  onStep: (metrics: Metrics) => void,
  beforeBatch: () => void,
): TrainedCheckpoint => {
  const training = startSft(stateOf(checkpoint, baseModel), beforeBatch)
  for (const [index, { examples, learningRate }] of batches.entries()) {
    beforeBatch()
    const metrics = training.step(examples, learningRate)
    const isValidated = index === batches.length - 1 && validation.length > 0
    const loss = isValidated ? meanLoss(training.state(), validation, beforeBatch) : null
    onStep({ ...metrics, ...(loss === null ? {} : { validation_loss: loss }) })
  }
  return { checkpoint: encodeCheckpoint(training.state()), gradientSteps: batches.length }
}

export const runRl = (
  { checkpoint, baseModel, groups, options }: RlJob,
  onStep: (metrics: Metrics) => void,
  beforeBatch: () => void,
): TrainedCheckpoint => {
  const from = stateOf(checkpoint, baseModel)
  const { state, gradientSteps } = trainRl(from, groups, options, onStep, beforeBatch)
  return { checkpoint: encodeCheckpoint(state), gradientSteps }
}
