import type { Instant } from '../../kernel/codec/instant.js'
import { canonicalJson } from '../../kernel/json/canonical.js'
import { withCacheCosts } from './cache-costs.js'
import type { OfferedPrice } from './commands.js'
import { priceContent, type PriceContent, type PriceEvent } from './events.js'

export interface KnownPrice {
  readonly id: string
  readonly price: PriceContent
}

/** The prices of a project or list. */
export interface PriceState {
  /** By id, including withdrawn prices, since an id is not reused. */
  readonly known: Map<string, PriceContent>
  /** Prices in force, by model, in the order in which they were published. */
  readonly standing: Map<string, readonly KnownPrice[]>
  /** Imported versions of the list. */
  readonly versions: Set<string>
}

export const noPrices = (): PriceState => ({ known: new Map(), standing: new Map(), versions: new Set() })

export const evolve = (state: PriceState, event: PriceEvent): PriceState => {
  switch (event.type) {
    case 'PricePublished': {
      const { id, llm_id } = event.data
      const price = contentOf(withCacheCosts(event.data))
      state.standing.set(llm_id, [...standingFor(state, llm_id), { id, price }])
      state.known.set(id, price)
      return state
    }
    case 'PriceWithdrawn': {
      const price = state.known.get(event.data.id)
      if (price === undefined) return state
      const left = standingFor(state, price.llm_id).filter(({ id }) => id !== event.data.id)
      state.standing.set(price.llm_id, left)
      return state
    }
    case 'PriceListImported':
      state.versions.add(event.data.version)
      return state
    default:
      return state
  }
}

const FIELDS = Object.keys(priceContent.schema['properties'] as object) as (keyof PriceContent)[]

const contentOf = (price: PriceContent): PriceContent =>
  Object.fromEntries(FIELDS.map((field) => [field, price[field]])) as PriceContent

export const standingFor = ({ standing }: PriceState, model: string): readonly KnownPrice[] =>
  standing.get(model) ?? []

export const samePrice = (a: OfferedPrice, b: OfferedPrice): boolean =>
  FIELDS.every((field) => a[field] === b[field] || (field === 'tiers' && sameTiers(a.tiers, b.tiers)))

const sameTiers = (a: PriceContent['tiers'] = [], b: PriceContent['tiers'] = []): boolean =>
  canonicalJson(a) === canonicalJson(b)

/** The existing price equal to an offered one; without a date, the one in force. */
export const recognised = (
  state: PriceState,
  offered: OfferedPrice,
  now: Instant,
): KnownPrice | undefined => {
  const standing = standingFor(state, offered.llm_id)
  if (offered.effective_date !== null) return standing.find(({ price }) => samePrice(price, offered))
  let inForce: KnownPrice | undefined
  for (const one of standing) {
    const { effective_date } = one.price
    if (effective_date <= now && effective_date >= (inForce?.price.effective_date ?? '')) inForce = one
  }
  if (inForce === undefined) return undefined
  const { effective_date } = inForce.price
  return samePrice(inForce.price, { ...offered, effective_date }) ? inForce : undefined
}
