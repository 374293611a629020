import { microseconds, type Instant } from '../../kernel/codec/instant.js'
import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import { priceChange, type TokenCosts } from '../../domain/prices/change.js'
import type { PricesAtPosition } from '../../domain/prices/price-history.js'

/** The prices at the position of the log that was reached; they are in the state, not in memory. */
export interface Prices extends PricesAtPosition {
  readonly apply: (event: RecordedEvent) => void
}

const KIND = 'price'
/** The key of a price, by its owner and id. */
const BY_ID = 'price-by-id'

export const openPrices = (state: Pick<DispatcherState, 'get' | 'put' | 'remove' | 'some'>): Prices => {
  const withdraw = (id: string) => {
    const key = state.get(BY_ID, id)
    if (key === undefined) return
    state.remove(KIND, key as string)
    state.remove(BY_ID, id)
  }

  return {
    apply: (event) => {
      const change = priceChange(event)
      if (change === undefined) return
      const { owner } = change
      const id = `${owner}\n${change.id}`
      withdraw(id)
      if (change.kind === 'withdrawn') return
      const key = `${ofModel(owner, change.model)}${latestFirst(change.from)} ${lastFirst(event.position)}`
      state.put(KIND, key, change.costs)
      state.put(BY_ID, id, key)
    },
    latest: (owner, model, by) => {
      const start = ofModel(owner, model)
      const [first] = state.some(KIND, 1, by === undefined ? start : start + latestFirst(by))
      return first?.[0].startsWith(start) === true ? (first[1] as TokenCosts) : undefined
    },
  }
}

/** Neither an owner nor JSON contains a line break, so no prefix is a prefix of another. */
const ofModel = (owner: string, model: string): string => `${owner}\n${JSON.stringify(model)}\n`

/** In the order of these texts, later times and positions come before earlier ones. */
const latestFirst = (time: Instant): string => String(10n ** 17n - microseconds(time)).padStart(18, '0')
const lastFirst = (position: Position): string => String((1n << 64n) - position).padStart(20, '0')
