import { EXTRA_COSTS } from '../../domain/prices/cache-costs.js'
import { timelineOf, type Candidate, type Timeline } from '../../domain/prices/choice.js'
import { amountFrom, type Amount } from '../../domain/prices/decimal.js'
import { DEFAULT_LIST, isTeamsList } from '../../domain/prices/events.js'
import { tokenCosts } from '../../domain/prices/change.js'
import { priceNames } from '../../domain/prices/names.js'
import { tierOf } from '../../domain/prices/tiers.js'
import type { PricedKind } from '../../domain/calls/usage/unpriced-members.js'
import { partsOf, type UsageVariant } from '../../domain/prices/variant.js'
import type { StoredPrice } from './stored-price.js'

export interface Price extends Candidate {
  /** In the order of `CHARGED`. */
  readonly costs: AmountsOf<ReturnType<typeof tokenCosts>>
  /** What it charges of the tier of service and the extras that usage has, and whether nothing else of its reports is unknown. */
  readonly charges: readonly PricedKind[]
  readonly isUnderstood: boolean
  readonly stored: StoredPrice
}

type AmountsOf<Costs extends readonly string[]> = { readonly [Kind in keyof Costs]: Amount }

/** Where a price of a project comes from. */
export const sourceOf = ({ owner }: StoredPrice, projectId: string): PriceSource =>
  owner === projectId ? 'project' : isTeamsList(owner) ? 'upstream' : 'default'

export const PRICE_SOURCES = ['project', 'upstream', 'default'] as const
type PriceSource = (typeof PRICE_SOURCES)[number]

/** The prices of all models as of a position. */
export interface PriceBook {
  /** Equal for equal books; undefined if prices changed after the position. */
  readonly version: string | undefined
  /** By the names of the prices. Models have other names too: see `pricesOfModel`. */
  readonly timelines: ReadonlyMap<string, Timeline<Price>>
}

/** The prices of a model with a variant, by the first of its names that has one; undefined without a price. */
export const pricesOfModel = (book: PriceBook, key: string): Timeline<Price> | undefined => {
  const known = book.timelines.get(key)
  if (known !== undefined) return known
  const { model, ...variant } = partsOf(key)
  const found = pricesByName(book, model)
  if (found === undefined || model === key) return found
  return {
    first: priceOfVariant(found.first, variant),
    steps: found.steps.map(({ from, price }) => ({ from, price: priceOfVariant(price, variant) })),
  }
}

const priceOfVariant = (price: Price, variant: UsageVariant): Price => {
  const { stored } = price
  const tier = tierOf(stored.tiers ?? [], variant)
  const costs = tier ?? stored
  const kinds: readonly PricedKind[] = [
    ...(variant.tier === null ? [] : (['service_tier'] as const)),
    ...variant.extras,
  ]
  const charges = kinds.filter((kind) =>
    kind === 'service_tier' ? (tier?.service_tier ?? null) !== null : costs[EXTRA_COSTS[kind]] !== undefined,
  )
  const isUnderstood = kinds.length > 0 && charges.length === kinds.length && !variant.isUnrecognized
  return { ...price, costs: amountsOf(costs), charges, isUnderstood }
}

const pricesByName = ({ timelines }: PriceBook, model: string): Timeline<Price> | undefined => {
  for (const name of priceNames(model)) {
    const found = timelines.get(name)
    if (found !== undefined) return found
  }
  return undefined
}

/** A book that has only these models, by their own names. */
export const bookOfModels = (book: PriceBook, models: Iterable<string>): PriceBook => {
  const timelines = new Map<string, Timeline<Price>>()
  for (const model of models) {
    const found = pricesOfModel(book, model)
    if (found !== undefined) timelines.set(model, found)
  }
  return { version: book.version, timelines }
}

export const bookOf = (
  stored: readonly StoredPrice[],
  projectId: string,
  version: string | undefined,
): PriceBook => {
  const byModel = new Map<string, Price[]>()
  for (const one of withoutReplaced(stored)) {
    const prices = byModel.get(one.llm_id)
    if (prices === undefined) byModel.set(one.llm_id, [priceOf(one, projectId)])
    else prices.push(priceOf(one, projectId))
  }
  return { version, timelines: new Map([...byModel].map(([model, prices]) => [model, timelineOf(prices)!])) }
}

const priceOf = (stored: StoredPrice, projectId: string): Price => ({
  effective_date: stored.effective_date,
  level: stored.owner === projectId ? 'project' : 'default',
  costs: amountsOf(stored),
  charges: [],
  isUnderstood: false,
  stored,
})

const amountsOf = (price: Parameters<typeof tokenCosts>[0]) =>
  tokenCosts(price).map(amountFrom) as unknown as Price['costs']

/** A price of the team's upstreams replaces the default list from its first date on. */
const withoutReplaced = (stored: readonly StoredPrice[]): readonly StoredPrice[] => {
  const since = new Map<string, StoredPrice['effective_date']>()
  for (const { owner, llm_id, effective_date } of stored) {
    const known = since.get(llm_id)
    if (isTeamsList(owner) && (known === undefined || effective_date < known))
      since.set(llm_id, effective_date)
  }
  if (since.size === 0) return stored
  return stored.filter(({ owner, llm_id, effective_date }) => {
    const from = since.get(llm_id)
    return owner !== DEFAULT_LIST || from === undefined || effective_date < from
  })
}
