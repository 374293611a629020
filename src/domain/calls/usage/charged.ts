import type { ModelUsage } from './reported.js'
import { TOKEN_COSTS } from '../../prices/cache-costs.js'
import { UNIT_NAMES } from '../../prices/units.js'
import type { Extra } from '../../prices/variant.js'

/** The figures that prices charge. */
export type ChargedUsage = Pick<
  ModelUsage,
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'cache_read_input_tokens'
  | 'cache_creation_input_tokens'
  | 'cache_creation_1h_input_tokens'
  | Extra
> & { readonly requests?: number }

/** The tokens of the prompt that were neither read from a cache nor written to one, at least 0. */
const uncachedPrompt = (used: ChargedUsage): number =>
  Math.max(0, used.prompt_tokens - used.cache_read_input_tokens - used.cache_creation_input_tokens)

/** Audio that is charged as such. Cached audio is charged as cached tokens. */
export const chargedPromptAudio = (used: ChargedUsage): number =>
  Math.min(used.prompt_audio_tokens, uncachedPrompt(used))

export const chargedCompletionAudio = (used: ChargedUsage): number =>
  Math.min(used.completion_audio_tokens, Math.max(0, used.completion_tokens))

/** The uncached tokens of the prompt without audio. */
export const chargedPrompt = (used: ChargedUsage): number => uncachedPrompt(used) - chargedPromptAudio(used)

export const chargedCompletion = (used: ChargedUsage): number =>
  used.completion_tokens - chargedCompletionAudio(used)

/** The tokens that were written to a cache for less than an hour, at least 0. */
export const chargedCreation = (used: ChargedUsage): number =>
  Math.max(0, used.cache_creation_input_tokens - used.cache_creation_1h_input_tokens)

/** In the order of the costs of a price. */
export const chargedTokens = (used: ChargedUsage): readonly number[] => [
  chargedPrompt(used),
  chargedCompletion(used),
  used.cache_read_input_tokens,
  chargedCreation(used),
  used.cache_creation_1h_input_tokens,
  chargedPromptAudio(used),
  chargedCompletionAudio(used),
  ...UNIT_NAMES.map((unit) => (unit === 'requests' ? (used.requests ?? 1) : used[unit])),
]

const REQUESTS = TOKEN_COSTS.indexOf('request_cost')

/** Whether something besides requests was used. */
export const hasTokens = (charged: readonly number[]): boolean =>
  charged.some((count, kind) => count !== 0 && kind !== REQUESTS)

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
