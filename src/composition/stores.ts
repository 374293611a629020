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
import type { Log } from '../domain/ports/log.js'
import { openEventStoreServer } from './event-store-server.js'

/** Where everything is kept. */
export interface Stores {
  readonly eventStore: EventStore
  readonly blobs: BlobStore
  readonly clickHouse: ClickHouse
}

/** Servers that start together with this process get this long to come up, in milliseconds. */
const WAIT_MS = 60_000

/** Opens the stores that the configuration names: those of this machine in the data directory, others by URL. */
export const openStores = async (
  { dataDirectory, eventStoreUrl, clickHouseUrl, clickHouseCluster }: Config,
  log?: Log,
): Promise<Stores> => {
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
        : await openClickHouseServer(clickHouseUrl, {
            cluster: clickHouseCluster ?? undefined,
            waitMs: WAIT_MS,
            onWaiting: (reason) => log?.warn('clickhouse.waited_for', { reason }),
          }),
  }
}
