import type { DeliveryEvent, DeliveryScheduled } from '../../domain/webhooks/deliveries/events.js'
import { deliveryStream } from '../../domain/webhooks/deliveries/events.js'
import {
  evolve,
  initialState,
  type DeliveryState,
  type OpenDelivery,
} from '../../domain/webhooks/deliveries/state.js'
import type { DispatcherState, OpenEntry } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import { versionedCache } from '../../kernel/versioned-cache.js'

/** What an event did to a delivery. */
export interface Change {
  readonly id: string
  readonly before: OpenEntry | undefined
  readonly after: DeliveryState
}

/** The deliveries that are not over, folded from their streams as the log goes by. */
export interface Ledger {
  /** Undefined where nothing is new. */
  readonly apply: (event: RecordedEvent) => Promise<Change | undefined>
  /** What a delivery tells, and of what. */
  readonly scheduled: (id: string) => Promise<DeliveryScheduled | undefined>
}

/** Characters of what was scheduled last, kept for the attempts. */
const REMEMBERED = 16 * 1024 * 1024

const PREFIX = 'delivery-'
export const deliveryIn = (stream: string): string | undefined =>
  stream.startsWith(PREFIX) ? stream.slice(PREFIX.length) : undefined

type Folding = Pick<DispatcherState, 'delivery' | 'putDelivery' | 'removeDelivery'>

export const openLedger = (
  eventStore: Pick<EventStore, 'readStream'>,
  state: Folding,
  /** Whether the deliveries of a webhook are likely to be attempted before they would be forgotten again. */
  isSoonNeeded: (webhook: string) => boolean,
): Ledger => {
  const remembered = versionedCache<{ readonly delivery: DeliveryScheduled; readonly size: number }>({
    maxSize: REMEMBERED,
    sizeOf: ({ size }) => size,
  })

  /** A delivery that was over is not kept: its own stream tells what it was. */
  const foldedUpTo = async (id: string, revision: bigint): Promise<Folded> => {
    let folded: Folded = { delivery: initialState, order: 0n }
    for await (const event of eventStore.readStream(deliveryStream(id))) {
      if (event.revision > revision) break
      folded = foldedOn(folded, event)
    }
    return folded
  }

  return {
    apply: async (event) => {
      const id = deliveryIn(event.stream)
      if (id === undefined) return undefined
      const before = state.delivery(id)
      if (before !== undefined && before.revision >= event.revision) return undefined
      const known = before !== undefined && before.revision === event.revision - 1n
      const { delivery: after, order } =
        known || event.revision === 0n
          ? foldedOn(before ?? { delivery: initialState, order: 0n }, event)
          : await foldedUpTo(id, event.revision)
      if (isOpen(after)) {
        state.putDelivery({ id, delivery: after, revision: event.revision, order })
        if (event.type === 'DeliveryScheduled' && isSoonNeeded(after.webhook))
          remembered.put(id, '', { delivery: event.data as unknown as DeliveryScheduled, size: event.size })
      } else {
        remembered.drop(id)
        if (before !== undefined) state.removeDelivery(id)
      }
      return { id, before, after }
    },
    scheduled: async (id) => {
      const found = remembered.get(id, '')
      if (found !== undefined) return found.delivery
      for await (const { type, data } of eventStore.readStream(deliveryStream(id), { limit: 1 }))
        if (type === 'DeliveryScheduled') return data as unknown as DeliveryScheduled
      return undefined
    },
  }
}

interface Folded {
  readonly delivery: DeliveryState
  readonly order: Position
}

const foldedOn = ({ delivery, order }: Folded, { type, data, position }: RecordedEvent): Folded => ({
  delivery: evolve(delivery, { type, data } as unknown as DeliveryEvent),
  order: type === 'DeliveryScheduled' ? position : order,
})

const isOpen = (delivery: DeliveryState): delivery is OpenDelivery =>
  delivery.phase === 'pending' || delivery.phase === 'retrying' || delivery.phase === 'in_flight'
