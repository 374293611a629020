import type { ModelUsage } from '../call/usage.js'
import { FIGURES } from '../call/usage.js'
import type { Instant } from '../codec/instant.js'
import { entityOf } from '../ids.js'
import type { TokenCosts } from './change.js'
import { chargedTokens } from './charged-tokens.js'
import { amountFrom, type Amount } from './decimal.js'
import { DEFAULT_LIST, teamsList } from './events.js'

/** The prices that stand at a place of the log. */
export interface PricesAtPosition {
  /**
   * Of an owner's prices for a model, the one with the latest effective date that is not after `by`, or with the latest of
   * all where that is undefined; of two of one date, the one published last.
   */
  readonly latest: (owner: string, model: string, by: Instant | undefined) => TokenCosts | undefined
}

/** A call's own usage, and when it started. */
export interface ChargedCall {
  readonly project_id: string
  readonly started_at: Instant
  readonly models: readonly ModelUsage[]
}

/** Whose prices a project's calls may be charged: what is in force at one goes before what is at those behind it. */
export const ownersFor = (projectId: string): readonly string[] => [
  projectId,
  teamsList(entityOf(projectId)),
  DEFAULT_LIST,
]

/** What a call cost itself, over all of its models; undefined where none of them has a price. */
export const costOf = (
  { latest }: PricesAtPosition,
  { project_id, started_at, models }: ChargedCall,
): Amount | undefined => {
  const owners = ownersFor(project_id)
  const priceBy = (model: string, by: Instant | undefined): TokenCosts | undefined => {
    for (const owner of owners) {
      const costs = latest(owner, model, by)
      if (costs !== undefined) return costs
    }
    return undefined
  }
  let sum: Amount | undefined
  for (const { model, ...figures } of models) {
    // A price of times to come holds where there is none of before.
    const costs = priceBy(model, started_at) ?? priceBy(model, undefined)
    if (costs === undefined) continue
    const tokens = chargedTokens(FIGURES.map((figure) => BigInt(figures[figure])))
    sum = tokens.reduce((total, count, kind) => total + count * amountFrom(costs[kind]!), sum ?? 0n)
  }
  return sum
}
