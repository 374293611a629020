import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openFileBlobStore } from '../../src/adapters/blobs/file-blob-store.js'
import { openKeyRing } from '../../src/adapters/secrets/key-ring.js'
import { openSqliteSecretStore } from '../../src/adapters/secrets/sqlite-secret-store.js'
import { openSqliteEventStore } from '../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { openHealth } from '../../src/application/health.js'
import { startService } from '../../src/composition/service.js'
import type { Stores } from '../../src/composition/stores.js'
import { readConfig, type Config } from '../../src/config.js'
import type { JsonObject } from '../../src/kernel/json/json.js'
import type { ClickHouse } from '../../src/kernel/ports/clickhouse.js'
import type { EventStore } from '../../src/kernel/ports/event-store.js'
import type { HealthReports } from '../../src/kernel/ports/health.js'
import type { Log } from '../../src/kernel/ports/log.js'
import { clientOf, senderTo, type Client } from './client.js'
import { openTestClickHouse } from './engine.js'
import { scratchDirectory } from './scratch.js'

export const ADMINISTRATOR_KEY = 'administrator-key-of-the-tests'

export interface TestService extends Client {
  readonly address: string
  readonly otlpGrpcAddress: string | undefined
  readonly stores: Stores
  /** Lines that were logged. */
  readonly logged: readonly JsonObject[]
  readonly stop: () => Promise<void>
}

/** The whole service in this process, over real stores in a scratch directory and a database of its own. */
export const startTestService = async (
  environment: Record<string, string> = {},
  openClickHouse: (health: HealthReports) => Promise<ClickHouse> = openTestClickHouse,
  configure: (config: Config) => Config = (config) => config,
  wrapEventStore: (eventStore: EventStore) => EventStore = (eventStore) => eventStore,
): Promise<TestService> => {
  const directory = await scratchDirectory()
  const logged: JsonObject[] = []
  const note = (level: string) => (event: string, fields?: JsonObject) => {
    // How long a step takes depends on what else runs on the machine.
    if (event !== 'loop.held') logged.push({ level, event, ...fields })
  }
  const log: Log = { info: note('info'), warn: note('warn'), error: note('error') }
  const health = openHealth(log)
  const stores: Stores = {
    health,
    eventStore: wrapEventStore(openSqliteEventStore(join(directory, 'events.db'), health)),
    blobs: openFileBlobStore(join(directory, 'blobs'), health),
    clickHouse: await openClickHouse(health),
    secrets: await openSqliteSecretStore(
      join(directory, 'secrets.db'),
      openKeyRing([], join(directory, 'master-keys')),
    ),
  }
  const config = configure(
    readConfig({
      TALLYTREE_PORT: '0',
      TALLYTREE_DATA_DIR: directory,
      TALLYTREE_BOOTSTRAP_API_KEY: ADMINISTRATOR_KEY,
      // The upstreams of tests are on this machine.
      TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8',
      ...environment,
    }),
  )
  const service = await startService(config, stores, log)

  return {
    address: service.address,
    otlpGrpcAddress: service.otlpGrpcAddress,
    stores,
    logged,
    ...clientOf(senderTo(service.address, ADMINISTRATOR_KEY)),
    stop: async () => {
      await service.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
