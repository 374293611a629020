import { TOKEN_COSTS } from '../../prices/cache-costs.js'
import { amountFrom, decimalText, type Amount } from '../../prices/decimal.js'
import { chargedTokens, REPORTED_UNIT, type ChargedUsage } from '../../usage/charged.js'
import type { ModelUsage } from '../../usage/reported.js'
import type { ModelPrice } from '../upstreams/content.js'

/** What a completion used, and what its provider reported that it cost. */
export type CompletionUsage = ChargedUsage & Pick<ModelUsage, 'reported_cost'>

/** The exact cost; without a price, what the provider reported. */
export const costOf = (price: ModelPrice | null, used: CompletionUsage): Amount =>
  price === null
    ? BigInt(used.reported_cost) * BigInt(REPORTED_UNIT)
    : chargedTokens(used).reduce((sum, tokens, kind) => sum + times(price[TOKEN_COSTS[kind]!], tokens), 0n)

/** Upper bound of the cost, whatever share of the prompt is cached. */
export const maxCost = (price: ModelPrice | null, prompt: number, completion: number): Amount => {
  if (price === null) return 0n
  const costs = [
    price.prompt_token_cost,
    price.cache_read_input_token_cost,
    price.cache_creation_input_token_cost,
    price.cache_creation_1h_input_token_cost,
  ]
  return (
    costs.map((cost) => times(cost, prompt)).reduce((a, b) => (a > b ? a : b)) +
    times(price.completion_token_cost, completion)
  )
}

const times = (cost: string, tokens: number): Amount =>
  tokens <= 0 ? 0n : amountFrom(cost) * BigInt(Math.trunc(tokens))

/** The maximum of each component over several prices; null for no prices. */
export const maxPrice = (prices: readonly (ModelPrice | null)[]): ModelPrice | null => {
  const known = prices.filter((price) => price !== null)
  if (known.length === 0) return null
  const most = TOKEN_COSTS.map((cost) => [
    cost,
    decimalText(known.map((price) => amountFrom(price[cost])).reduce((a, b) => (a > b ? a : b))),
  ])
  return Object.fromEntries(most) as ModelPrice
}
