import { join } from 'node:path'
import { openSqliteEventStore } from '../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { systemIds } from '../../src/adapters/system/ids.js'
import type { DomainEvent } from '../../src/domain/decider.js'
import { newEvent } from '../../src/domain/event.js'
import type { EventStore } from '../../src/domain/ports/event-store.js'

const cause = { correlationId: 'test', causationId: 'test', actor: 'ada' }

/** The embedded log of a data directory, for whoever has it alone. */
export const openEventLog = (dataDirectory: string) => {
  const eventStore: EventStore = openSqliteEventStore(join(dataDirectory, 'events.db'))
  return {
    eventStore,
    append: async (stream: string, ...events: readonly DomainEvent[]) => {
      await eventStore.append(
        stream,
        'any',
        events.map((event) => newEvent(systemIds.next(), event, cause)),
      )
    },
  }
}
