import { createServer, type Server } from 'node:http'
import { mkdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { openFileBlobStore } from '../adapters/blobs/file-blob-store.js'
import { openEmbeddedClickHouse } from '../adapters/clickhouse/embedded.js'
import { openClickHouseServer } from '../adapters/clickhouse/server.js'
import { openSqliteEventStore } from '../adapters/event-store/sqlite/sqlite-event-store.js'
import { randomKey, sha256, systemClock, systemIds } from '../adapters/system/system.js'
import { createApp } from '../api/app.js'
import { openAccess } from '../api/auth/access.js'
import { bootstrapAccess } from '../api/auth/bootstrap.js'
import { pacing } from '../api/pacing.js'
import { readingFrom } from '../api/reading.js'
import { allRoutes } from '../api/routes.js'
import type { Config } from '../config.js'
import type { Log } from '../domain/ports/log.js'
import { projections } from '../projections/all.js'
import { migrate } from '../projections/migrate.js'
import { startProjector } from '../projections/runtime/projector.js'

export interface Service {
  readonly address: string
  /** The administrator's key, made at this start; null at every later one, or where the operator gave it. */
  readonly createdKey: string | null
  /** Takes no more requests, finishes those in flight, and closes the stores. */
  readonly stop: () => Promise<void>
}

/** Everything in one process: opens the stores, starts the projector, and listens. */
export const startService = async (config: Config, log: Log): Promise<Service> => {
  const directory = (name: string) => join(config.dataDirectory, name)
  await mkdir(config.dataDirectory, { recursive: true })
  const eventStore = openSqliteEventStore(directory('events.db'))
  const blobs = openFileBlobStore(directory('blobs'))
  const clickHouse =
    config.clickHouseUrl === null
      ? await openEmbeddedClickHouse(directory('clickhouse'))
      : await openClickHouseServer(config.clickHouseUrl)
  await migrate(clickHouse.writer)

  const ports = { eventStore, blobs, clock: systemClock, ids: systemIds, sha256, randomKey, log }
  const access = await openAccess(ports)
  const bootstrapped = await bootstrapAccess(ports, access, config.bootstrapApiKey ?? undefined)
  if (bootstrapped.ignoredKey)
    log.warn('access.bootstrap_key_ignored', {
      reason: 'TALLYTREE_BOOTSTRAP_API_KEY is not the key of the first start, which stays valid',
    })
  const projector = await startProjector({ ...ports, clickHouse: clickHouse.writer, projections })
  const reading = readingFrom(projector, await eventStore.head())

  const routes = allRoutes({
    ports,
    access,
    teams: access,
    reading,
    reader: clickHouse.reader,
    pace: pacing(projector),
    maxTraceCalls: config.maxTraceCalls,
    isReady: () => true,
    quarantined: projector.quarantined,
  })
  const server = createServer(createApp(access, routes, log).callback())
  await listen(server, config)

  return {
    address: addressOf(server),
    createdKey: bootstrapped.createdKey ?? null,
    stop: async () => {
      await close(server)
      access.close()
      await projector.stop()
      await eventStore.close()
      await clickHouse.close()
    },
  }
}

const listen = (server: Server, { host, port }: Config): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })

const addressOf = (server: Server): string => {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** Requests in flight get this long before their connections are cut. */
const FINISH_WITHIN_MS = 8000

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), FINISH_WITHIN_MS)
    server.close(() => {
      clearTimeout(cut)
      resolve()
    })
    server.closeIdleConnections()
  })
