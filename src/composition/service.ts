import { compileRe2 } from '../adapters/patterns/re2.js'
import { systemIds } from '../adapters/system/ids.js'
import { randomKey, sha256, systemClock } from '../adapters/system/system.js'
import { createApp } from '../api/app.js'
import { serviceRoutes } from '../api/service/health.js'
import type { Config } from '../config.js'
import type { Log } from '../domain/ports/log.js'
import { migrate } from '../projections/migrate.js'
import { openApi } from './api.js'
import { listen } from './listening.js'
import { openReadSide } from './read-side.js'
import type { Stores } from './stores.js'

export interface Service {
  readonly address: string
  /** The administrator's key, made at this start; null at every later one, or where the operator gave it. */
  readonly createdKey: string | null
  /** Takes no more requests, finishes those in flight, and closes the stores. */
  readonly stop: () => Promise<void>
}

/** The roles of this process over the stores, listening: without the role `api`, for its health alone. */
export const startService = async (config: Config, stores: Stores, log: Log): Promise<Service> => {
  const { eventStore, clickHouse } = stores
  await migrate(clickHouse.writer)
  const readSide = await openReadSide(config, stores, systemClock, log)
  const ports = {
    ...stores,
    clock: systemClock,
    ids: systemIds,
    sha256,
    randomKey,
    compilePattern: compileRe2,
    log,
  }
  const vitals = {
    isReady: () => true,
    quarantined: readSide.quarantined,
    readsFail: () => readSide.failing?.() ?? clickHouse.away(),
  }
  const api = config.roles.has('api') ? await openApi(config, ports, readSide, vitals) : undefined
  const nobody = { authenticate: () => undefined }
  const app = createApp(api?.access ?? nobody, api?.routes ?? serviceRoutes(vitals), log)
  const listening = await listen(app.callback(), config)
  return {
    address: listening.address,
    createdKey: api?.createdKey ?? null,
    stop: async () => {
      await listening.close()
      api?.access.close()
      await readSide.stop()
      await eventStore.close()
      await clickHouse.close()
    },
  }
}
