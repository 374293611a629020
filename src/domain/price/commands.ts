import type { Instant } from '../codec/instant.js'
import type { PriceContent, PriceOwner } from './events.js'

interface Publishing {
  readonly userId: string
  readonly now: Instant
}

/** A price without an effective date holds from now on. */
export type OfferedPrice = Omit<PriceContent, 'effective_date'> & { readonly effective_date: Instant | null }

/** All of these prices or, where one is refused, none. */
export interface PublishPrices extends Publishing {
  readonly type: 'PublishPrices'
  readonly owner: PriceOwner
  readonly prices: readonly { readonly id: string; readonly price: OfferedPrice }[]
}

export interface WithdrawPrice {
  readonly type: 'WithdrawPrice'
  readonly owner: PriceOwner
  readonly id: string
}

/** The list has these prices, each in the place of one that it had for the same model and date. */
export interface ImportPrices extends Publishing {
  readonly type: 'ImportPrices'
  readonly list: string
  readonly version: string
  readonly source: string
  readonly prices: readonly { readonly id: string; readonly price: PriceContent }[]
  /** A version that was imported before is left as it is, whatever became of its prices since. */
  readonly once: boolean
}

export type PriceCommand = PublishPrices | WithdrawPrice | ImportPrices
