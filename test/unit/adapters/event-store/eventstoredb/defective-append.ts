import { EventStoreDBClient, type JSONEventData } from '@eventstore/db-client'
import { openEventStoreDb } from '../../../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import type { JsonObject } from '../../../../../src/kernel/json/json.js'
import { arbitraryEvent } from '../../../../contract/event-store/arbitrary-events.js'

// Appends data that JSON cannot hold, with the client alone or through the adapter, and says how that ended.
const [who, url] = process.argv.slice(2) as ['client' | 'adapter', string]
const event = arbitraryEvent({ data: { big: 1n } as unknown as JsonObject })
const append = async (): Promise<unknown> => {
  if (who === 'adapter') return (await openEventStoreDb(url)).append('stream-1', 'none', [event])
  const raw = { ...event, contentType: 'application/json' } as JSONEventData
  return EventStoreDBClient.connectionString(url).appendToStream('stream-1', raw)
}

const end = (said: string) => process.stdout.write(`${said}\n`, () => process.exit(0))
append().then(
  () => end('stored'),
  (error: unknown) => end((error as Error).name),
)
