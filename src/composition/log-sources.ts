import type { KeyObject } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteEventStore } from '../adapters/event-store/sqlite/sqlite-event-store.js'
import { requireApiKey } from '../adapters/remote-service/request.js'
import { openRemoteService, type RemoteService } from '../adapters/remote-service/remote-service.js'
import { sealsIn } from '../application/audit/seals.js'
import type { Config } from '../config.js'
import { StoreInUse } from '../kernel/ports/event-store-errors.js'
import type { LogSource } from '../kernel/ports/log-source.js'
import type { BucketAddress } from '../kernel/ports/objects-url.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { openEventStoreServer } from './event-store-server.js'
import { blobsOf, objectsOf } from './objects.js'
import type { BlobStore } from '../kernel/ports/blobs.js'
import type { EventStore } from '../kernel/ports/event-store.js'

export interface OpenedSource {
  readonly log: LogSource
  /** Only for a running service: it can also return the digests of its read models. */
  readonly service?: RemoteService
}

/**
 * Opens the log to copy from: the address of a running service, an EventStoreDB, whose blobs are in the bucket or the data
 * directory of the configuration, or the data directory of a stopped service. With `saltKey`, events of an EventStoreDB that
 * have no seal get the one that follows from the key.
 *
 * @throws OperatorError that says what to do
 */
export const openLogSource = async (
  named: string,
  config: Pick<Config, 'apiKey' | 'dataDirectory' | 'objects'>,
  saltKey?: () => Promise<KeyObject | undefined>,
): Promise<OpenedSource> => {
  if (/^https?:\/\//.test(named)) {
    const service = await openService(named, config.apiKey)
    return { log: service, service }
  }
  if (/^esdb(\+discover)?:\/\//.test(named))
    return {
      log: storedLog(
        await openEventStoreServer(named),
        await blobsOf(config.objects, config.dataDirectory),
        await saltKey?.(),
      ),
    }
  if (/^[a-z]+:\/\//.test(named))
    throw new OperatorError(
      `${named.split(':')[0]!}: unsupported log source; use a data directory, http(s):// or esdb://`,
    )
  return { log: await openDirectory(named, objectsOf(named, config)) }
}

export const openService = (url: string, apiKey: string | null): Promise<RemoteService> =>
  openRemoteService(url, requireApiKey(apiKey))

const openDirectory = async (directory: string, objects: BucketAddress | null): Promise<LogSource> => {
  const path = join(directory, 'events.db')
  if ((await stat(path).catch(() => undefined)) === undefined)
    throw new OperatorError(`${directory} does not contain a log (events.db)`)
  try {
    return storedLog(openSqliteEventStore(path), await blobsOf(objects, directory))
  } catch (cause) {
    if (!(cause instanceof StoreInUse)) throw cause
    throw new OperatorError(
      `a running service uses ${directory}: stop it, or give its address, such as --from http://127.0.0.1:4600`,
      { cause },
    )
  }
}

/**
 * An event store and its blobs as a source to copy from. Closing it closes the store. With the key of their salts, events
 * that have no seal keep the one that follows from the key.
 */
export const storedLog = (
  eventStore: EventStore,
  blobs: Pick<BlobStore, 'open'>,
  saltKey?: KeyObject,
): LogSource => ({
  head: () => eventStore.head(),
  readAll: async function* (after) {
    const sealOf = saltKey && sealsIn(eventStore, saltKey)
    for await (const event of eventStore.readAll({ after, withSeals: true }))
      yield event.seal === undefined ? { ...event, seal: sealOf?.(event)?.salt } : event
  },
  eventAt: async ({ stream, revision }) => {
    for await (const event of eventStore.readStream(stream, { from: revision, limit: 1, withSeals: true }))
      return event
    return undefined
  },
  openBlob: (digest) => blobs.open(digest),
  close: () => eventStore.close(),
})
