import { chargedTokens, hasTokens, isCostUnknown, REPORTED_UNIT } from './usage/charged.js'
import type { ModelUsage } from './usage/reported.js'
import type { Instant } from '../../kernel/codec/instant.js'
import { entityOf } from '../../kernel/ids.js'
import { sizeOf } from '../prices/variant.js'
import { tokenCosts, type TokenCosts } from '../prices/change.js'
import { amountFrom, type Amount } from '../prices/decimal.js'
import { DEFAULT_LIST, teamsList } from '../prices/events.js'
import { priceNames } from '../prices/names.js'
import type { PricesAtPosition } from '../prices/price-history.js'
import { tierOf } from '../prices/tiers.js'

/** A call's own usage and its start. */
export interface ChargedCall {
  readonly project_id: string
  readonly started_at: Instant
  readonly models: readonly ModelUsage[]
}

/** The owners whose prices apply to a project, in order of precedence. */
export const ownersFor = (projectId: string): readonly string[] => [
  projectId,
  teamsList(entityOf(projectId)),
  DEFAULT_LIST,
]

/**
 * The cost of a call's own usage over all models, by their prices or, where a model has none, as its provider reported it;
 * undefined without usage and if the cost is unknown.
 */
export const costOf = (
  { latest }: PricesAtPosition,
  { project_id, started_at, models }: ChargedCall,
): Amount | undefined => {
  const owners = ownersFor(project_id)
  const priceBy = (name: string, by: Instant | undefined): TokenCosts | undefined => {
    for (const owner of owners) {
      const costs = latest(owner, name, by)
      if (costs !== undefined) return costs
    }
    return undefined
  }
  const priceOf = (model: string): TokenCosts | undefined => {
    for (const name of priceNames(model)) {
      // A future price applies if none is in force yet.
      const costs = priceBy(name, started_at) ?? priceBy(name, undefined)
      if (costs !== undefined) return costs
    }
    return undefined
  }
  if (models.length === 0) return undefined
  let sum: Amount = 0n
  const sources = { hasPriced: false, hasUnpriced: false, hasReported: false }
  for (const used of models) {
    const tokens = chargedTokens(used)
    const price = priceOf(used.model)
    if (price !== undefined) {
      const tier = tierOf(price[TIERS] ?? [], { above: sizeOf(used), tier: used.service_tier ?? null })
      const costs = tier === undefined ? costsOf(price) : tokenCosts(tier)
      sources.hasPriced ||= hasTokens(tokens)
      for (const [kind, count] of tokens.entries()) sum += BigInt(count) * amountFrom(costs[kind] ?? '0')
      continue
    }
    sources.hasUnpriced ||= hasTokens(tokens)
    if (used.reported_cost <= 0) continue
    sources.hasReported = true
    sum += BigInt(used.reported_cost) * BigInt(REPORTED_UNIT)
  }
  return isCostUnknown(sources) ? undefined : sum
}

/** The place of the tiers. */
const TIERS = 5

/** Stored prices of earlier releases end with the cost of cache creation, that for an hour, or the tiers, or lack the last units. */
const costsOf = ([prompt, completion, read, creation, hour, , ...extras]: TokenCosts): readonly string[] => [
  ...[prompt, completion, read, creation, (hour as string | undefined) ?? creation],
  ...(extras.length > 0 ? extras : [prompt, completion]),
]
