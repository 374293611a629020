import type * as t from 'io-ts'
import { nullable, withDefault } from '../../kernel/codec/containers.js'
import { boolean, number, oneOf } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'

/** The options of a job of reinforcement learning that the built-in engine has. */
export const rlConfig = open('RlTrainingConfig', {
  says: 'Null is the same as absent.',
  optional: {
    learning_rate: withDefault(number, 5e-6, true),
    loss_fn: nullable(oneOf('cispo', 'ppo')),
    ppo: withDefault(boolean, false, true),
    epsilon: nullable(number),
    epsilon_high: nullable(number),
    importance_sampling_level: withDefault(
      oneOf('token', 'sequence', 'average', 'geometric_average'),
      'token' as const,
      true,
    ),
    scale_rewards: withDefault(boolean, true, true),
    normalize_advantages: withDefault(boolean, true, true),
    advantage_balance: withDefault(number, 0, true),
    max_negative_advantage_importance_sampling_weight: nullable(number),
    mask_prob_ratio: withDefault(boolean, false, true),
    kimi_k2_tau: nullable(number),
    truncated_importance_sampling: nullable(number),
    allow_training_without_logprobs: withDefault(boolean, false, true),
  },
})
export type RlConfig = t.TypeOf<typeof rlConfig>

/** The options that the built-in engine lacks, with their defaults; null is accepted for all. */
const LACKING: Readonly<Record<string, readonly Json[]>> = {
  kl_penalty_coef: [0],
  kl_penalty_reference_step: [],
  kl_penalty_step_lag: [],
  kl_penalty_source: ['current_learner', 'sample'],
  kl_ref_adapter_path: [],
  num_trajectories_learning_rate_multiplier_power: [0],
  scale_learning_rate_by_reward_std_dev: [false],
  plot_tensors: [false],
}

/** The names of the options with another value than their default that the built-in engine does not have. */
export const optionsLacking = (config: JsonObject): readonly string[] =>
  Object.entries(LACKING).flatMap(([name, defaults]) => {
    const value = config[name] ?? null
    return value === null || defaults.includes(value) ? [] : [name]
  })
