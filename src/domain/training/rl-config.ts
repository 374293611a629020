import * as t from 'io-ts'
import { Codec, refuse } from '../../kernel/codec/codec.js'
import { nullable, withDefault } from '../../kernel/codec/containers.js'
import { boolean, int64, number, oneOf } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'

const numberWithin = (least: number, most: number | null, isAbove = false): Codec<number> => {
  const says = most === null ? `${isAbove ? 'above' : 'of at least'} ${least}` : `from ${least} to ${most}`
  const isWithin = (u: unknown): u is number =>
    number.is(u) && (isAbove ? u > least : u >= least) && (most === null || u <= most)
  return new Codec<number>(
    'number',
    isWithin,
    (u, context) =>
      isWithin(u) ? t.success(u) : refuse(u, context, 'value_error', `Input should be a number ${says}`),
    {
      type: 'number',
      [isAbove ? 'exclusiveMinimum' : 'minimum']: least,
      ...(most === null ? {} : { maximum: most }),
    },
  )
}

const atLeast0 = numberWithin(0, null)
const above0 = numberWithin(0, null, true)

/** The options of a job of reinforcement learning that the built-in engine has. */
const OPTIONS = {
  learning_rate: withDefault(atLeast0, 5e-6, true),
  loss_fn: nullable(oneOf('cispo', 'ppo')),
  ppo: withDefault(boolean, false, true),
  epsilon: nullable(atLeast0),
  epsilon_high: nullable(atLeast0),
  importance_sampling_level: withDefault(
    oneOf('token', 'sequence', 'average', 'geometric_average'),
    'token' as const,
    true,
  ),
  scale_rewards: withDefault(boolean, true, true),
  normalize_advantages: withDefault(boolean, true, true),
  advantage_balance: withDefault(numberWithin(-1, 1), 0, true),
  max_negative_advantage_importance_sampling_weight: nullable(above0),
  mask_prob_ratio: withDefault(boolean, false, true),
  kimi_k2_tau: nullable(atLeast0),
  truncated_importance_sampling: nullable(above0),
  allow_training_without_logprobs: withDefault(boolean, false, true),
  // How trainers on GPUs divide the work: the result is the same.
  logprob_calculation_chunk_size: nullable(int64),
  packed_sequence_length: nullable(int64),
  precalculate_logprobs: nullable(boolean),
}

export const rlConfig = open('RlTrainingConfig', { says: 'Null is the same as absent.', optional: OPTIONS })
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

export const RL_OPTIONS: readonly string[] = Object.keys(OPTIONS)

/** The names of the options that the built-in engine does not have, but those at their default. */
export const optionsLacking = (config: JsonObject): readonly string[] =>
  Object.entries(config)
    .filter(
      ([name, value]) =>
        value !== null &&
        !Object.hasOwn(OPTIONS, name) &&
        !(Object.hasOwn(LACKING, name) && LACKING[name]!.includes(value)),
    )
    .map(([name]) => name)
