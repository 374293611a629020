/** Advantages and weights of the trajectories of a batch. */

/** Rewards closer than this are equal. */
const SMALLEST_DIFFERENCE = 1e-12
const SMALLEST_DEVIATION = 1e-6

export const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

/** The standard deviation of the population. */
export const deviationOf = (values: readonly number[]): number => {
  const mean = meanOf(values)
  return Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)))
}

/**
 * Each reward less the mean of its group, divided by the standard deviation if `scale` is set. All are 0 for a group without
 * a signal: fewer than two rewards, or equal ones.
 */
export const advantagesOf = (rewards: readonly number[], scale: boolean): readonly number[] => {
  const range = Math.max(...rewards) - Math.min(...rewards)
  if (rewards.length <= 1 || range <= SMALLEST_DIFFERENCE) return rewards.map(() => 0)
  const mean = meanOf(rewards)
  const divisor = scale ? deviationOf(rewards) + SMALLEST_DEVIATION : 1
  return rewards.map((reward) => (reward - mean) / divisor)
}

export interface WeightedTrajectory {
  readonly advantage: number
  /** Of each trainable token. */
  readonly weight: number
}

/**
 * Weights trajectories equally, however many trainable tokens they have: the mean weight of a token is 1. A positive
 * `balance` lowers negative advantages, a negative one positive advantages. The weighted mean of |advantage| becomes 1.
 */
export const weightedTrajectories = (
  trajectories: readonly { readonly advantage: number; readonly trainableTokens: number }[],
  balance: number,
): readonly WeightedTrajectory[] => {
  const tokens = trajectories.reduce((sum, { trainableTokens }) => sum + trainableTokens, 0)
  const balanced = trajectories.map(({ advantage, trainableTokens }) => ({
    advantage: advantage * (advantage < 0 ? 1 - Math.max(0, balance) : 1 + Math.min(0, balance)),
    weight: tokens / (trajectories.length * trainableTokens),
  }))
  // The weighted sum over the tokens of a trajectory is `tokens / trajectories.length` times its advantage.
  const mean = meanOf(balanced.map(({ advantage }) => Math.abs(advantage)))
  return balanced.map(({ advantage, weight }) => ({ advantage: mean === 0 ? 0 : advantage / mean, weight }))
}
