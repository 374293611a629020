import { amountFrom, decimalText, type Amount } from '../../prices/decimal.js'
import type { ModelPrice } from '../upstreams/content.js'

/** Token counts to charge. Cached tokens are included in the prompt's. */
export interface ChargedTokens {
  readonly prompt: number
  readonly completion: number
  readonly cacheRead: number
  readonly cacheCreation: number
}

/** The exact cost; 0 without a price. */
export const costOf = (price: ModelPrice | null, tokens: ChargedTokens): Amount => {
  if (price === null) return 0n
  const { prompt, completion, cacheRead, cacheCreation } = tokens
  return (
    times(price.prompt_token_cost, prompt - cacheRead - cacheCreation) +
    times(price.completion_token_cost, completion) +
    times(price.cache_read_input_token_cost, cacheRead) +
    times(price.cache_creation_input_token_cost, cacheCreation)
  )
}

/** Upper bound of the cost, whatever share of the prompt is cached. */
export const mostCostOf = (price: ModelPrice | null, prompt: number, completion: number): Amount => {
  if (price === null) return 0n
  const costs = [
    price.prompt_token_cost,
    price.cache_read_input_token_cost,
    price.cache_creation_input_token_cost,
  ]
  return (
    costs.map((cost) => times(cost, prompt)).reduce((a, b) => (a > b ? a : b)) +
    times(price.completion_token_cost, completion)
  )
}

const times = (cost: string, tokens: number): Amount =>
  tokens <= 0 ? 0n : amountFrom(cost) * BigInt(Math.trunc(tokens))

const COSTS = [
  'prompt_token_cost',
  'completion_token_cost',
  'cache_read_input_token_cost',
  'cache_creation_input_token_cost',
] as const

/** The maximum of each component over several prices; null for no prices. */
export const dearest = (prices: readonly (ModelPrice | null)[]): ModelPrice | null => {
  const known = prices.filter((price) => price !== null)
  if (known.length === 0) return null
  const [prompt, completion, read, creation] = COSTS.map((cost) =>
    decimalText(known.map((price) => amountFrom(price[cost])).reduce((a, b) => (a > b ? a : b))),
  ) as [string, string, string, string]
  return {
    prompt_token_cost: prompt,
    completion_token_cost: completion,
    cache_read_input_token_cost: read,
    cache_creation_input_token_cost: creation,
  }
}
