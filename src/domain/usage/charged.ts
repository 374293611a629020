import type { ModelUsage } from './reported.js'

/** The figures that prices charge. */
export type ChargedUsage = Pick<
  ModelUsage,
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'cache_read_input_tokens'
  | 'cache_creation_input_tokens'
  | 'cache_creation_1h_input_tokens'
>

/** The tokens of the prompt that were neither read from a cache nor written to one, at least 0. */
export const chargedPrompt = (used: ChargedUsage): number =>
  Math.max(0, used.prompt_tokens - used.cache_read_input_tokens - used.cache_creation_input_tokens)

/** The tokens that were written to a cache for less than an hour, at least 0. */
export const chargedCreation = (used: ChargedUsage): number =>
  Math.max(0, used.cache_creation_input_tokens - used.cache_creation_1h_input_tokens)

/** In the order of the costs of a price. */
export const chargedTokens = (used: ChargedUsage): readonly number[] => [
  chargedPrompt(used),
  used.completion_tokens,
  used.cache_read_input_tokens,
  chargedCreation(used),
  used.cache_creation_1h_input_tokens,
]

/** Units of an amount of money in a unit of `reported_cost`. */
export const REPORTED_UNIT = 1000
