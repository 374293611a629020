import { systemIds } from '../adapters/system/ids.js'
import { randomKey, sha256, systemClock } from '../adapters/system/system.js'
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
import { listen } from './listening.js'
import type { Stores } from './stores.js'

export interface Service {
  readonly address: string
  /** The administrator's key, made at this start; null at every later one, or where the operator gave it. */
  readonly createdKey: string | null
  /** Takes no more requests, finishes those in flight, and closes the stores. */
  readonly stop: () => Promise<void>
}

/** Everything in one process: access, projector and API over the stores, listening. */
export const startService = async (config: Config, stores: Stores, log: Log): Promise<Service> => {
  const { eventStore, clickHouse } = stores
  const ports = { ...stores, clock: systemClock, ids: systemIds, sha256, randomKey, log }
  await migrate(clickHouse.writer)
  const access = await openAccess(ports)
  const bootstrapped = await bootstrapAccess(ports, access, config.bootstrapApiKey ?? undefined)
  if (bootstrapped.ignoredKey)
    log.warn('access.bootstrap_key_ignored', {
      reason: 'TALLYTREE_BOOTSTRAP_API_KEY is not the key of the first start, which stays valid',
    })
  const projector = await startProjector({ ...ports, clickHouse: clickHouse.writer, projections })
  const routes = allRoutes({
    ports,
    access,
    teams: access,
    reading: readingFrom(projector, await eventStore.head()),
    reader: clickHouse.reader,
    pace: pacing(projector),
    maxTraceCalls: config.maxTraceCalls,
    isReady: () => true,
    quarantined: () => projector.quarantined(),
  })
  const listening = await listen(createApp(access, routes, log).callback(), config)
  return {
    address: listening.address,
    createdKey: bootstrapped.createdKey ?? null,
    stop: async () => {
      await listening.close()
      access.close()
      await projector.stop()
      await eventStore.close()
      await clickHouse.close()
    },
  }
}
