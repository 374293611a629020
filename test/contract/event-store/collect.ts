import type { EventStore, RecordedEvent, TailItem } from '../../../src/kernel/ports/event-store.js'

export const collect = async <T>(items: AsyncIterable<T>): Promise<readonly T[]> => {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}

export const idsOf = (events: readonly { readonly id: string }[]): readonly string[] =>
  events.map(({ id }) => id)

export const idsIn = async (events: AsyncIterable<RecordedEvent>): Promise<readonly string[]> =>
  idsOf(await collect(events))

/** Ends the iteration, without an error, as soon as `isLast` holds for an item. */
export const collectUntil = async <T>(
  items: AsyncIterable<T>,
  isLast: (item: T, collected: readonly T[]) => boolean,
): Promise<readonly T[]> => {
  const collected: T[] = []
  for await (const item of items) {
    collected.push(item)
    if (isLast(item, collected)) break
  }
  return collected
}

export const eventsIn = (items: readonly TailItem[]): readonly RecordedEvent[] =>
  items.flatMap((item) => (item.kind === 'event' ? [item.event] : []))

/** The first `count` events of a subscription. */
export const follow = async (
  store: EventStore,
  count: number,
  options: Parameters<EventStore['subscribeAll']>[0],
): Promise<readonly RecordedEvent[]> => {
  const items = store.subscribeAll(options)
  return eventsIn(await collectUntil(items, (_, collected) => eventsIn(collected).length === count))
}
