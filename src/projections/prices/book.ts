import { timelineOf, type Candidate, type Timeline } from '../../domain/price/choice.js'
import { amountFrom, type Amount } from '../../domain/price/decimal.js'
import type { StoredPrice } from './stored-price.js'

/** A price that calls may be charged. */
export interface Price extends Candidate {
  /** Of one token of prompt, completion, cache reading and cache creation, in this order. */
  readonly costs: readonly [Amount, Amount, Amount, Amount]
  readonly stored: StoredPrice
}

/** What every model cost, as it was known at a position. */
export interface PriceBook {
  /** The same for the same book; undefined where later books exist already. */
  readonly version: string | undefined
  readonly timelines: ReadonlyMap<string, Timeline<Price>>
}

export const bookOf = (
  stored: readonly StoredPrice[],
  projectId: string,
  version: string | undefined,
): PriceBook => {
  const byModel = new Map<string, Price[]>()
  for (const one of stored) {
    const prices = byModel.get(one.llm_id)
    if (prices === undefined) byModel.set(one.llm_id, [priceOf(one, projectId)])
    else prices.push(priceOf(one, projectId))
  }
  return { version, timelines: new Map([...byModel].map(([model, prices]) => [model, timelineOf(prices)!])) }
}

const priceOf = (stored: StoredPrice, projectId: string): Price => ({
  effective_date: stored.effective_date,
  level: stored.owner === projectId ? 'project' : 'default',
  costs: [
    amountFrom(stored.prompt_token_cost),
    amountFrom(stored.completion_token_cost),
    amountFrom(stored.cache_read_input_token_cost),
    amountFrom(stored.cache_creation_input_token_cost),
  ],
  stored,
})
