import { LRUCache } from 'lru-cache'
import {
  deliveryStream,
  type DeliveryEvent,
  type DeliveryScheduled,
} from '../../domain/webhooks/deliveries/events.js'
import {
  evolve,
  initialState,
  type DeliveryState,
  type OpenDelivery,
} from '../../domain/webhooks/deliveries/state.js'
import type { DispatcherState, OpenEntry } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'

/** What an event changed in a delivery. */
export interface DeliveryChange {
  readonly before: OpenEntry | undefined
  readonly after: DeliveryState
}

interface FoldedDelivery {
  readonly delivery: DeliveryState
  /** The position of its `DeliveryScheduled`. */
  readonly order: Position
}

/** The open deliveries, folded from the log. */
export interface Deliveries {
  /** Reads the stream of a delivery that had ended: the state does not have it. Undefined for all others. */
  readonly read: (event: RecordedEvent) => Promise<FoldedDelivery> | undefined
  /** Undefined if the event is not new. `folded` comes from `read`. */
  readonly apply: (event: RecordedEvent, folded: FoldedDelivery | undefined) => DeliveryChange | undefined
  readonly scheduled: (id: string) => Promise<DeliveryScheduled | undefined>
}

/** Characters of cached `DeliveryScheduled`. */
const CACHE_SIZE = 16 * 1024 * 1024

const PREFIX = 'delivery-'
export const deliveryIdOf = (stream: string): string | undefined =>
  stream.startsWith(PREFIX) ? stream.slice(PREFIX.length) : undefined

type Folding = Pick<DispatcherState, 'delivery' | 'putDelivery' | 'removeDelivery'>

export const openDeliveries = (eventStore: Pick<EventStore, 'readStream'>, state: Folding): Deliveries => {
  const cache = new LRUCache<string, DeliveryScheduled>({ maxSize: CACHE_SIZE })

  const foldedUpTo = async (id: string, revision: bigint): Promise<FoldedDelivery> => {
    let folded: FoldedDelivery = { delivery: initialState, order: 0n }
    for await (const event of eventStore.readStream(deliveryStream(id))) {
      if (event.revision > revision) break
      folded = foldedOn(folded, event)
    }
    return folded
  }

  return {
    read: ({ stream, revision }) => {
      const id = deliveryIdOf(stream)
      return id === undefined || revision === 0n || state.delivery(id) !== undefined
        ? undefined
        : foldedUpTo(id, revision)
    },
    apply: (event, folded) => {
      const id = deliveryIdOf(event.stream)
      if (id === undefined) return undefined
      const before = state.delivery(id)
      if (before !== undefined && before.revision >= event.revision) return undefined
      const { delivery: after, order } =
        folded ?? foldedOn(before ?? { delivery: initialState, order: 0n }, event)
      if (isOpen(after)) {
        state.putDelivery({ id, delivery: after, revision: event.revision, order })
        if (event.type === 'DeliveryScheduled')
          cache.set(id, event.data as unknown as DeliveryScheduled, { size: Math.max(1, event.size) })
      } else {
        cache.delete(id)
        if (before !== undefined) state.removeDelivery(id)
      }
      return { before, after }
    },
    scheduled: async (id) => {
      const found = cache.get(id)
      if (found !== undefined) return found
      for await (const { type, data } of eventStore.readStream(deliveryStream(id), { limit: 1 }))
        if (type === 'DeliveryScheduled') return data as unknown as DeliveryScheduled
      return undefined
    },
  }
}

const foldedOn = (
  { delivery, order }: FoldedDelivery,
  { type, data, position }: RecordedEvent,
): FoldedDelivery => ({
  delivery: evolve(delivery, { type, data } as unknown as DeliveryEvent),
  order: type === 'DeliveryScheduled' ? position : order,
})

const isOpen = (delivery: DeliveryState): delivery is OpenDelivery =>
  delivery.phase === 'pending' || delivery.phase === 'retrying' || delivery.phase === 'in_flight'
