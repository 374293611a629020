import { forEach, UNIT_NAMES, UNITS, type UnitCost } from './units.js'

interface StatedCosts {
  readonly prompt_token_cost: unknown
  readonly cache_read_input_token_cost: unknown
  readonly cache_creation_input_token_cost: unknown
  readonly cache_creation_1h_input_token_cost: unknown
}

/** Costs that a price may leave out: then audio is charged as text, and units are not charged. */
export const EXTRA_COSTS = {
  prompt_audio_tokens: 'prompt_audio_token_cost',
  completion_audio_tokens: 'completion_audio_token_cost',
  ...forEach(UNIT_NAMES, (unit) => UNITS[unit].cost),
} as const

type OptionalCost = 'prompt_audio_token_cost' | 'completion_audio_token_cost' | UnitCost

const OF_TOKENS = [
  'prompt_token_cost',
  'completion_token_cost',
  'cache_read_input_token_cost',
  'cache_creation_input_token_cost',
  'cache_creation_1h_input_token_cost',
  'prompt_audio_token_cost',
  'completion_audio_token_cost',
] as const

type TokenCost = (typeof OF_TOKENS)[number] | UnitCost

/** In the order of `chargedTokens`. */
export const TOKEN_COSTS: readonly TokenCost[] = [...OF_TOKENS, ...UNIT_NAMES.map((unit) => UNITS[unit].cost)]

/** The costs of a price, each of the same type. */
export type CostsOf<A> = Readonly<Record<Exclude<TokenCost, OptionalCost>, A>> &
  Readonly<Partial<Record<OptionalCost, A>>>

/** The costs that a price states. */
export const mapCosts = <A, B>(
  costs: Readonly<Partial<Record<TokenCost, A | null | undefined>>>,
  of: (cost: A, name: TokenCost) => B,
): CostsOf<B> =>
  Object.fromEntries(
    TOKEN_COSTS.flatMap((name) => {
      const cost = costs[name] ?? undefined
      return cost === undefined ? [] : [[name, of(cost, name)]]
    }),
  ) as CostsOf<B>

type CacheCost =
  'cache_read_input_token_cost' | 'cache_creation_input_token_cost' | 'cache_creation_1h_input_token_cost'

type WithCacheCosts<Price extends StatedCosts> = {
  readonly [K in keyof Price]: K extends CacheCost ? NonNullable<Price[K]> : Price[K]
}

/**
 * The cost of a cached token defaults to that of a prompt token, and the cost of a one-hour cache write to that of other cache
 * writes. A stated cost may be 0.
 */
export const withCacheCosts = <Price extends StatedCosts>(price: Price): WithCacheCosts<Price> => {
  const creation = price.cache_creation_input_token_cost ?? price.prompt_token_cost
  return {
    ...price,
    cache_read_input_token_cost: price.cache_read_input_token_cost ?? price.prompt_token_cost,
    cache_creation_input_token_cost: creation,
    cache_creation_1h_input_token_cost: price.cache_creation_1h_input_token_cost ?? creation,
  } as WithCacheCosts<Price>
}
