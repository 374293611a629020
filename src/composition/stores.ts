import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openFileBlobStore } from '../adapters/blobs/file-blob-store.js'
import { openEmbeddedClickHouse } from '../adapters/clickhouse/embedded.js'
import { openClickHouseServer } from '../adapters/clickhouse/server.js'
import { openSqliteEventStore } from '../adapters/event-store/sqlite/sqlite-event-store.js'
import type { Config } from '../config.js'
import type { BlobStore } from '../domain/ports/blobs.js'
import type { ClickHouse } from '../domain/ports/clickhouse.js'
import type { EventStore } from '../domain/ports/event-store.js'

/** Where everything is kept. */
export interface Stores {
  readonly eventStore: EventStore
  readonly blobs: BlobStore
  readonly clickHouse: ClickHouse
}

/** Opens the stores that the configuration names: those of this machine in the data directory, others by URL. */
export const openStores = async ({
  dataDirectory,
  eventStoreUrl,
  clickHouseUrl,
}: Config): Promise<Stores> => {
  await mkdir(dataDirectory, { recursive: true })
  return {
    eventStore:
      eventStoreUrl === null
        ? openSqliteEventStore(join(dataDirectory, 'events.db'))
        : await openEventStoreServer(eventStoreUrl),
    blobs: openFileBlobStore(join(dataDirectory, 'blobs')),
    clickHouse:
      clickHouseUrl === null
        ? await openEmbeddedClickHouse(join(dataDirectory, 'clickhouse'))
        : await openClickHouseServer(clickHouseUrl),
  }
}

/** Its client takes a quarter of a second to load, which is not for those who do not use it. */
const openEventStoreServer = async (url: string): Promise<EventStore> => {
  const { openEventStoreDb } = await import('../adapters/event-store/eventstoredb/event-store-db.js')
  return openEventStoreDb(url)
}
