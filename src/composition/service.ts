import { setMaxListeners } from 'node:events'
import { openMetrics } from '../adapters/metrics/prometheus.js'
import { compileRe2 } from '../adapters/patterns/re2.js'
import { systemIds } from '../adapters/system/ids.js'
import { openFileLimit } from '../adapters/system/open-file-limit.js'
import { hmacSha256, randomKey, sha256, systemClock } from '../adapters/system/system.js'
import { createApp } from '../api/app.js'
import { serviceRoutes } from '../api/service/health.js'
import type { Config } from '../config.js'
import type { Log } from '../domain/ports/log.js'
import { tellBrokenParts } from '../projections/runtime/broken-parts.js'
import { openApi, type HearsKey } from './api.js'
import { openAttempts, openDispatcher } from './dispatcher.js'
import { openInference } from './inference.js'
import { listen } from './listening.js'
import { connectionsOf } from './open-files.js'
import { openReadSide } from './read-side.js'
import { tidySecretsAtStart } from './secrets.js'
import { openWebhookSender } from './webhook-sender.js'
import type { Stores } from './stores.js'

export interface Service {
  readonly address: string
  /** Takes no more requests, finishes those in flight, and closes the stores. */
  readonly stop: () => Promise<void>
}

/** Tests of webhooks get this long to end, so that their requests are answered before connections are cut. */
const TESTS_FINISH_WITHIN_MS = 5000

/** The roles of this process over the stores, listening: without the role `api`, for its health alone. */
export const startService = async (
  config: Config,
  stores: Stores,
  log: Log,
  hearsKey: HearsKey = () => undefined,
): Promise<Service> => {
  const begun: Begun = []
  try {
    return await start(config, stores, log, hearsKey, begun)
  } catch (error) {
    // Measured: a process that ends while the embedded engine is at work may wait for it forever, or crash.
    for (const stop of begun.reverse()) await stop()
    throw error
  }
}

/** What has to be stopped, the last first, where a start does not succeed. */
type Begun = (() => Promise<void>)[]

const start = async (
  config: Config,
  stores: Stores,
  log: Log,
  hearsKey: HearsKey,
  begun: Begun,
): Promise<Service> => {
  begun.push(() => stores.clickHouse.close())
  const { eventStore, clickHouse, health } = stores
  // A server's operators see to its parts themselves.
  if (config.clickHouseUrl === null) await tellBrokenParts(clickHouse.reader, clickHouse.database, log)
  const readSide = await openReadSide(config, stores, systemClock, log)
  begun.push(() => readSide.stop())
  let address = ''
  const webhookSender = openWebhookSender(config, () => address)
  const endingTests = new AbortController()
  setMaxListeners(0, endingTests.signal)
  const attempts = openAttempts(config, log)
  const ports = {
    ...stores,
    attempts,
    clock: systemClock,
    ids: systemIds,
    sha256,
    randomKey,
    compilePattern: compileRe2,
    hmacSha256,
    vendor: config.vendor,
    webhookSender,
    endingTests: endingTests.signal,
    log,
  }
  const metrics = openMetrics()
  const { behind } = readSide
  if (behind !== undefined)
    metrics.beforeRead(async () => metrics.projectionLagEvents.set({}, await behind()))
  const vitals = {
    metrics,
    quarantined: readSide.quarantined,
    readsFail: () => readSide.failing?.() ?? clickHouse.away() ?? health.reason('reads'),
    writesBlocked: () => health.writesBlocked(eventStore),
    writesFail: () => health.reason('event-log-reads') ?? health.reason('blobs'),
  }
  const tidied = config.roles.has('api') ? tidySecretsAtStart(ports, config) : undefined
  if (config.eventStoreUrl === null) await tidied
  const inference = config.roles.has('api')
    ? await openInference(config, ports, metrics, () => address)
    : undefined
  const api =
    inference === undefined ? undefined : await openApi(config, ports, readSide, vitals, inference, hearsKey)
  const nobody = { authenticate: () => undefined }
  const app = createApp(
    api?.access ?? nobody,
    api?.routes ?? serviceRoutes(vitals),
    log,
    metrics.requestSeconds,
  )
  const listening = await listen(app.callback(), config, connectionsOf(openFileLimit(), log))
  address = listening.address
  const dispatcher = config.roles.has('dispatcher')
    ? await openDispatcher(config, stores, { log, metrics, webhookSender })
    : undefined
  return {
    address,
    stop: async () => {
      inference?.hurry()
      const giveUpTests = setTimeout(() => endingTests.abort(), TESTS_FINISH_WITHIN_MS)
      await Promise.all([listening.close(), dispatcher?.stop()])
      clearTimeout(giveUpTests)
      webhookSender.close()
      api?.access.close()
      await inference?.close()
      await tidied
      attempts.close()
      await readSide.stop()
      await eventStore.close()
      await clickHouse.close()
      await stores.secrets.close()
    },
  }
}
