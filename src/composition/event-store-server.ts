import type { EventStore } from '../domain/ports/event-store.js'
import type { HealthReports } from '../domain/ports/health.js'

/**
 * An EventStoreDB by its connection string. Its client takes a quarter of a second to load, which is not for those who do
 * not use it.
 */
export const openEventStoreServer = async (url: string, health?: HealthReports): Promise<EventStore> => {
  const { openEventStoreDb } = await import('../adapters/event-store/eventstoredb/event-store-db.js')
  return openEventStoreDb(url, { health })
}
