import type { Instant } from '../../kernel/codec/instant.js'
import type { PriceContent, PriceOwner } from './events.js'

interface Publishing {
  readonly userId: string
  readonly now: Instant
}

/** Without an effective date, a price is effective from now. */
export type OfferedPrice = Omit<PriceContent, 'effective_date'> & { readonly effective_date: Instant | null }

/** All or none: one refused price refuses all. */
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

/** Replaces the list: each price replaces the one with the same model and date. */
export interface ImportPrices extends Publishing {
  readonly type: 'ImportPrices'
  readonly list: string
  readonly version: string
  readonly source: string
  readonly prices: readonly { readonly id: string; readonly price: PriceContent }[]
  /** Does nothing if this version was imported before, even if its prices changed since. */
  readonly once: boolean
}

export type PriceCommand = PublishPrices | WithdrawPrice | ImportPrices
