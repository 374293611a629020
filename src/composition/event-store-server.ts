import type { EventStore } from '../kernel/ports/event-store.js'
import type { HealthReports } from '../kernel/ports/health.js'

/**
 * Opens an EventStoreDB by its connection string. The client takes a quarter of a second to load, so it is imported only
 * when used.
 */
export const openEventStoreServer = async (url: string, health?: HealthReports): Promise<EventStore> => {
  const { openEventStoreDb } = await import('../adapters/event-store/eventstoredb/event-store-db.js')
  return openEventStoreDb(url, { health })
}
