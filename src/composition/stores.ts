import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openFileBlobStore } from '../adapters/blobs/file-blob-store.js'
import { openEmbeddedClickHouse } from '../adapters/clickhouse/embedded.js'
import { connectClickHouseServer } from '../adapters/clickhouse/server.js'
import { PACKING } from '../adapters/event-store/sqlite/packer.js'
import { openSqliteEventStore } from '../adapters/event-store/sqlite/sqlite-event-store.js'
import { openFileLimit, requireOpenFiles } from '../adapters/system/open-file-limit.js'
import type { Config } from '../config.js'
import { PRIVATE_DIRECTORY } from '../kernel/private-files.js'
import type { BlobStore } from '../kernel/ports/blobs.js'
import type { ClickHouse } from '../kernel/ports/clickhouse.js'
import type { EventStore } from '../kernel/ports/event-store.js'
import type { Log } from '../kernel/ports/log.js'
import type { SecretStore } from '../kernel/ports/secret-store.js'
import { openEventStoreServer } from './event-store-server.js'
import { openHealth, type Health } from '../application/health.js'
import { openOwnLog } from './own-log.js'
import { openSecrets } from './secrets.js'

/** Where all data is. */
export interface Stores {
  readonly eventStore: EventStore
  readonly blobs: BlobStore
  readonly clickHouse: ClickHouse
  readonly secrets: SecretStore
  /** Collects the health reports of these stores. */
  readonly health: Health
}

/** Opens the stores that the configuration names: those of this machine in the data directory, others by URL. */
export const openStores = async (config: Config, log: Log): Promise<Stores> => {
  const { dataDirectory, eventStoreUrl, clickHouseUrl, clickHouseCluster } = config
  if (clickHouseUrl === null) requireOpenFiles(openFileLimit())
  mkdirSync(resolve(dataDirectory), { recursive: true, mode: PRIVATE_DIRECTORY })
  const health = openHealth(log)
  return {
    health,
    // First, because it refuses a directory that has lost its log.
    eventStore:
      eventStoreUrl === null
        ? await openOwnLog(dataDirectory, (path) =>
            openSqliteEventStore(path, health, {
              ...PACKING,
              onSealing: (upTo) =>
                log.info(upTo === 0 ? 'log.sealed' : 'log.sealing', { positions_left: upTo }),
            }),
          )
        : await openEventStoreServer(eventStoreUrl, health),
    secrets: await openSecrets(config, log),
    blobs: openFileBlobStore(join(dataDirectory, 'blobs'), health),
    clickHouse:
      clickHouseUrl === null
        ? await openEmbeddedClickHouse(join(dataDirectory, 'clickhouse'), undefined, health)
        : connectClickHouseServer(clickHouseUrl, {
            cluster: clickHouseCluster ?? undefined,
            readers: config.clickHouseReaders,
            health,
          }),
  }
}
