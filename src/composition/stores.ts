import { accessSync, constants, existsSync, mkdirSync, rmSync, statfsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openEmbeddedClickHouse } from '../adapters/clickhouse/embedded.js'
import { connectClickHouseServer } from '../adapters/clickhouse/server.js'
import { PACKING } from '../adapters/event-store/sqlite/packer.js'
import { openSqliteEventStore } from '../adapters/event-store/sqlite/sqlite-event-store.js'
import { openFileLimit, requireOpenFiles } from '../adapters/system/open-file-limit.js'
import type { Config } from '../config.js'
import { PRIVATE_DIRECTORY } from '../kernel/private-files.js'
import type { BlobStore } from '../kernel/ports/blobs.js'
import type { Bucket } from '../kernel/ports/bucket.js'
import type { ClickHouse } from '../kernel/ports/clickhouse.js'
import type { EventStore } from '../kernel/ports/event-store.js'
import type { Log } from '../kernel/ports/log.js'
import type { SecretStore } from '../kernel/ports/secret-store.js'
import { databaseOfRelease } from '../projections/migrate.js'
import { openEventStoreServer } from './event-store-server.js'
import { openHealth, type Health } from '../application/health.js'
import { openBlobs, openBucket } from './objects.js'
import { openOwnLog } from './own-log.js'
import { openSecrets } from './secrets.js'

/** Where all data is. */
export interface Stores {
  readonly eventStore: EventStore
  readonly blobs: BlobStore
  readonly clickHouse: ClickHouse
  readonly secrets: SecretStore
  /** Holds the blobs, the secrets and the records of attempts, if it is configured. */
  readonly bucket?: Bucket | undefined
  /** Collects the health reports of these stores. */
  readonly health: Health
}

/** Opens the stores that the configuration names: those of this machine in the data directory, others by URL. */
export const openStores = async (config: Config, log: Log): Promise<Stores> => {
  const { dataDirectory, eventStoreUrl, clickHouseUrl, clickHouseCluster } = config
  if (clickHouseUrl === null) requireOpenFiles(openFileLimit())
  mkdirSync(resolve(dataDirectory), { recursive: true, mode: PRIVATE_DIRECTORY })
  const health = openHealth(log)
  const bucket = config.objects === null ? undefined : await openBucket(config.objects)
  // Before the other stores of the directory, because it refuses a directory that has lost its log.
  const eventStore =
    eventStoreUrl === null
      ? await openOwnLog(dataDirectory, (path) =>
          openSqliteEventStore(path, health, {
            ...PACKING,
            onSealing: (upTo) =>
              log.info(upTo === 0 ? 'log.sealed' : 'log.sealing', { positions_left: upTo }),
          }),
        )
      : await openEventStoreServer(eventStoreUrl, health)
  return {
    health,
    eventStore,
    bucket,
    secrets: await openSecrets(config, bucket, log),
    blobs: openBlobs(config, bucket, health),
    clickHouse:
      clickHouseUrl === null
        ? await openEngine(
            join(dataDirectory, 'clickhouse'),
            health,
            eventStoreUrl === null && eventStore,
            log,
          )
        : connectClickHouseServer(clickHouseUrl, {
            cluster: clickHouseCluster ?? undefined,
            readers: config.clickHouseReaders ?? undefined,
            health,
            choose: databaseOfRelease,
          }),
  }
}

/**
 * The embedded engine. Where its files cannot be opened, they are deleted, and filled again from the log. Only the process
 * that has locked the embedded log knows that no other one uses them.
 */
const openEngine = async (
  directory: string,
  health: Health,
  ownLog: EventStore | false,
  log: Pick<Log, 'error'>,
): Promise<ClickHouse> => {
  const open = () => openEmbeddedClickHouse(directory, undefined, health)
  if (!existsSync(directory) || ownLog === false || (await ownLog.head()) === 0n) return open()
  accessSync(directory, constants.R_OK | constants.W_OK)
  try {
    return await open()
  } catch (error) {
    if (!isUnopened(error) || hasNoSpace(directory)) throw error
    log.error('clickhouse.files_damaged', {
      reason: error.message,
      so: 'clickhouse/ in the data directory is deleted, and filled again from the log',
    })
    rmSync(directory, { recursive: true })
    return open()
  }
}

const isUnopened = (error: unknown): error is Error =>
  error instanceof Error && error.name === 'ChdbConnectionError'

/** The engine writes when it is opened. */
const LEAST_SPACE = 64 * 1024 * 1024

const hasNoSpace = (directory: string): boolean => {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize < LEAST_SPACE
}
