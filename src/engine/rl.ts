import { advantagesOf, deviationOf, meanOf, weightedTrajectories } from './advantages.js'
import type { ModelState } from './checkpoint.js'
import { SequenceInvalid, TrainingDiverged } from './errors.js'
import { policyLoss, type PolicyLossOptions, type PolicySequence } from './policy-loss.js'
import { createTrainer, fitsContext, targetCount, type MaskedSequence } from './trainer.js'

export interface RlOptions extends PolicyLossOptions {
  readonly learningRate: number
  /** Divides advantages by the standard deviation of their group. Needs `normalizeAdvantages` too. */
  readonly scaleRewards: boolean
  readonly normalizeAdvantages: boolean
  /** From −1 to 1: see `weightedTrajectories`. */
  readonly advantageBalance: number
}

export interface RlSequence extends MaskedSequence {
  /** Of each token when it was sampled. Null: the model under training sampled it. */
  readonly logprobs: readonly (number | null)[]
}

export interface RlTrajectory {
  readonly reward: number
  readonly sequences: readonly RlSequence[]
}

/** Attempts at one task: only differences of their rewards are a signal. */
export type RlGroup = readonly RlTrajectory[]

export interface RlResult {
  readonly state: ModelState
  /** 0 where no group has a signal: the state is the one before. */
  readonly gradientSteps: number
}

/** Squares of larger rewards would overflow. */
const LARGEST_REWARD = 1e100

interface TrainableTrajectory {
  readonly sequences: readonly RlSequence[]
  readonly advantage: number
  readonly trainableTokens: number
}

/** The trajectories whose rewards are a signal, without their sequences that are longer than the context. */
const signalsOf = (
  group: RlGroup,
  baseModel: string,
  scale: boolean,
): readonly (TrainableTrajectory & { readonly isTooLong: boolean })[] => {
  const advantages = advantagesOf(
    group.map(({ reward }) => reward),
    scale,
  )
  return group.flatMap(({ sequences }, index) => {
    const advantage = advantages[index]!
    if (advantage === 0) return []
    const fitting = sequences.filter((sequence) => fitsContext(baseModel, sequence))
    const trainableTokens = fitting.reduce((sum, sequence) => sum + targetCount(sequence), 0)
    return [{ sequences: fitting, advantage, trainableTokens, isTooLong: fitting.length < sequences.length }]
  })
}

/** How many trajectories with a signal can be trained on, and why the others cannot. */
export interface RlSignal {
  readonly trainable: number
  readonly tooLong: number
  readonly withoutTokens: number
}

export const signalIn = (groups: readonly RlGroup[], baseModel: string): RlSignal => {
  const signals = groups.flatMap((group) => signalsOf(group, baseModel, false))
  const left = signals.filter(({ trainableTokens }) => trainableTokens === 0)
  const tooLong = left.filter(({ isTooLong }) => isTooLong).length
  return { trainable: signals.length - left.length, tooLong, withoutTokens: left.length - tooLong }
}

/** A sequence with the weight and advantage of its trajectory. */
interface WeightedSequence extends PolicySequence {
  readonly sequence: RlSequence
}

const weightedSequences = (
  trajectories: readonly TrainableTrajectory[],
  balance: number,
): readonly WeightedSequence[] => {
  const weighted = weightedTrajectories(trajectories, balance)
  return trajectories.flatMap(({ sequences }, index) =>
    sequences.map((sequence) => ({ sequence, old: oldLogprobs(sequence), ...weighted[index]! })),
  )
}

const oldLogprobs = ({ tokens, mask, logprobs }: RlSequence): readonly (number | null)[] => {
  if (logprobs.length !== tokens.length)
    throw new SequenceInvalid(`A sequence has ${tokens.length} tokens and ${logprobs.length} logprobs.`)
  return logprobs.filter((_, index) => mask[index] === true && index > 0)
}

/**
 * One step of the optimiser on one batch of groups. `onStep` receives the metrics of the step.
 *
 * @throws TrainingDiverged, SequenceInvalid
 */
export const trainRl = (
  from: ModelState,
  groups: readonly RlGroup[],
  options: RlOptions,
  onStep: (metrics: Readonly<Record<string, number>>) => void,
  beforeBatch?: () => void,
): RlResult => {
  const rewards = groups.map((group) => group.map(({ reward }) => reward))
  for (const reward of rewards.flat())
    if (!(Math.abs(reward) <= LARGEST_REWARD))
      throw new TrainingDiverged(`Reward ${reward} is too large: the limit is ${LARGEST_REWARD}.`)
  const scale = options.scaleRewards && options.normalizeAdvantages
  const signals = groups.map((group) => signalsOf(group, from.baseModel, scale))
  const ofGroups = signals.map((group) => group.filter(({ trainableTokens }) => trainableTokens > 0))
  const trajectories = ofGroups.flat()
  if (trajectories.length === 0) return { state: from, gradientSteps: 0 }
  const sequences = weightedSequences(trajectories, options.advantageBalance)
  const tokens = trajectories.reduce((sum, { trainableTokens }) => sum + trainableTokens, 0)
  const trainer = createTrainer(from, beforeBatch)
  const ratios: number[] = []
  let [loss, entropy, divergence, clipped] = [0, 0, 0, 0]
  trainer.addGradients(
    sequences.map(({ sequence }) => sequence),
    (index, { logprobs, entropies }) => {
      const found = policyLoss(logprobs, sequences[index]!, options)
      for (const value of found.losses) loss += value / tokens
      for (const value of entropies) entropy += (value * sequences[index]!.weight) / tokens
      for (const ratio of found.ratios) ratios.push(ratio)
      divergence += found.divergenceSum / tokens
      clipped += found.clipped
      return found.derivatives.map((derivative) => derivative / tokens)
    },
  )
  if (!Number.isFinite(loss)) throw new TrainingDiverged('The loss is not finite. Use a lower learning rate.')
  const norm = trainer.update(options.learningRate)
  ratios.sort((a, b) => a - b)
  onStep({
    reward: meanOf(rewards.flat()),
    reward_std_dev: meanOf(rewards.map(deviationOf)),
    loss,
    policy_loss: loss,
    entropy,
    kl_div: divergence,
    grad_norm: norm,
    learning_rate: options.learningRate,
    num_groups_submitted: groups.length,
    num_groups_trainable: ofGroups.filter(({ length }) => length > 0).length,
    num_trajectories: trajectories.length,
    num_dropped_trajectories: signals.flat().length - trajectories.length,
    num_trainable_tokens: tokens,
    'loss/importance_ratio_mean': meanOf(ratios),
    'loss/importance_ratio_p95': quantile(ratios, 0.95),
    'loss/importance_ratio_p99': quantile(ratios, 0.99),
    'loss/clipped_token_fraction': clipped / tokens,
  })
  return { state: trainer.state(), gradientSteps: 1 }
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
