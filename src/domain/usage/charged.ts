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

export const hasTokens = (charged: readonly number[]): boolean => charged.some((count) => count !== 0)

/** What usage of one or more models consists of. */
export interface CostSources {
  /** Tokens of a model with a price. */
  readonly hasPriced: boolean
  /** Tokens of a model without a price. */
  readonly hasUnpriced: boolean
  /** A cost that the provider reported for a model without a price. */
  readonly hasReported: boolean
}

/** Where all tokens are of models without a price, their cost is unknown unless the provider reported it. */
export const isCostUnknown = ({ hasPriced, hasUnpriced, hasReported }: CostSources): boolean =>
  hasUnpriced && !hasPriced && !hasReported

/** Units of an amount of money in a unit of `reported_cost`. */
export const REPORTED_UNIT = 1000
