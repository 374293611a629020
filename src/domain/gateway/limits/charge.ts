import { TOKEN_COSTS } from '../../prices/cache-costs.js'
import { tokenCosts } from '../../prices/change.js'
import { amountFrom, decimalText, type Amount } from '../../prices/decimal.js'
import { tierOf } from '../../prices/tiers.js'
import { chargedTokens, REPORTED_UNIT, type ChargedUsage } from '../../calls/usage/charged.js'
import type { ModelUsage } from '../../calls/usage/reported.js'
import { sizeOf } from '../../prices/variant.js'
import type { ModelPrice } from '../upstreams/content.js'

/** What a completion used, and what its provider reported that it cost. */
export type CompletionUsage = ChargedUsage & Pick<ModelUsage, 'reported_cost' | 'service_tier'>

/** The exact cost; without a price, what the provider reported. */
export const costOf = (price: ModelPrice | null, used: CompletionUsage): Amount => {
  if (price === null) return BigInt(used.reported_cost) * BigInt(REPORTED_UNIT)
  const variant = { above: sizeOf(used), tier: used.service_tier ?? null }
  const costs = tokenCosts(tierOf(price.tiers ?? [], variant) ?? price)
  return chargedTokens(used).reduce((sum, tokens, kind) => sum + times(costs[kind]!, tokens), 0n)
}

/**
 * Upper bound of the cost of a request with tokens and searches, whatever share of the tokens is cached or audio, in any tier of
 * service.
 */
export const maxCost = (
  price: ModelPrice | null,
  prompt: number,
  completion: number,
  searches = 0,
): Amount => {
  if (price === null) return 0n
  const above = sizeOf({ prompt_tokens: prompt })
  const tiers = (price.tiers ?? []).filter((tier) => tier.above_prompt_tokens <= above)
  const costs = [price, ...tiers].map((one) => {
    const [text, written, read, creation, creation1h, audio, writtenAudio] = tokenCosts(one)
    const { web_search_cost: search = '0', request_cost: request = '0' } = one
    const ofPrompt = [text, read, creation, creation1h, audio].map((cost) => times(cost, prompt))
    const ofCompletion = [written, writtenAudio].map((cost) => times(cost, completion))
    return largest(ofPrompt) + largest(ofCompletion) + times(search, searches) + times(request, 1)
  })
  return largest(costs)
}

export const largest = (amounts: readonly Amount[]): Amount => amounts.reduce((a, b) => (a > b ? a : b), 0n)

const times = (cost: string, tokens: number): Amount =>
  tokens <= 0 ? 0n : amountFrom(cost) * BigInt(Math.trunc(tokens))

/** The maximum of each component over several prices, without their tiers; null for no prices. */
export const maxPrice = (prices: readonly (ModelPrice | null)[]): ModelPrice | null => {
  const known = prices.filter((price) => price !== null)
  if (known.length === 0) return null
  const costs = known.map(tokenCosts)
  const most = TOKEN_COSTS.flatMap((name, kind) =>
    known.some((price) => price[name] !== undefined)
      ? [[name, decimalText(largest(costs.map((all) => amountFrom(all[kind]!))))]]
      : [],
  )
  return Object.fromEntries(most) as ModelPrice
}
