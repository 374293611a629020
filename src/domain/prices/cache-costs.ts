interface StatedCosts {
  readonly prompt_token_cost: unknown
  readonly cache_read_input_token_cost: unknown
  readonly cache_creation_input_token_cost: unknown
  readonly cache_creation_1h_input_token_cost: unknown
}

/** In the order of `chargedTokens`. */
export const TOKEN_COSTS = [
  'prompt_token_cost',
  'completion_token_cost',
  'cache_read_input_token_cost',
  'cache_creation_input_token_cost',
  'cache_creation_1h_input_token_cost',
] as const

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
