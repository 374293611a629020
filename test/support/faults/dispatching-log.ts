import { join } from 'node:path'
import { openSqliteEventStore } from '../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { systemIds } from '../../../src/adapters/system/system.js'
import type { DomainEvent } from '../../../src/kernel/decider.js'
import { newEvent } from '../../../src/kernel/event.js'
import type { EventStore, RecordedEvent } from '../../../src/kernel/ports/event-store.js'
import { appendNext } from '../append-next.js'

const cause = { correlationId: 'test', causationId: 'test', actor: 'ada' }

export type Append = (stream: string, ...events: readonly DomainEvent[]) => Promise<void>

export const appendingTo =
  (eventStore: Pick<EventStore, 'append' | 'readStream'>): Append =>
  async (stream, ...events) => {
    await appendNext(
      eventStore,
      stream,
      events.map((event) => newEvent(systemIds.next(), event, cause)),
    )
  }

/** The embedded log of a data directory, for whoever has it alone. */
export const openEventLog = (dataDirectory: string) => {
  const eventStore: EventStore = openSqliteEventStore(join(dataDirectory, 'events.db'))
  return { eventStore, append: appendingTo(eventStore) }
}

/** All events, in the order of the log. */
export const eventsOf = async (
  eventStore: Pick<EventStore, 'readAll'>,
): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  for await (const event of eventStore.readAll()) events.push(event)
  return events
}
