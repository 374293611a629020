import { setMaxListeners } from 'node:events'
import { openMetrics } from '../adapters/metrics/prometheus.js'
import { compileRe2 } from '../adapters/patterns/re2.js'
import { systemIds, hmacSha256, randomKey, sha256, systemClock } from '../adapters/system/system.js'
import { openFileLimit } from '../adapters/system/open-file-limit.js'
import { bootFrom } from '../api/access/sessions.js'
import type { GrpcServer } from '../api/otel/grpc-server.js'
import { createApp } from '../api/server/app.js'
import { loadWebPages } from '../api/server/web-pages.js'
import { serviceRoutes, type HealthChecks } from '../api/service/health.js'
import type { Config } from '../config.js'
import { WEB } from '../files.js'
import type { Evaluations } from '../dispatch/evaluations/evaluations.js'
import type { Dispatcher } from '../dispatch/webhooks/dispatcher.js'
import { MemoryAccount } from '../kernel/memory-account.js'
import type { EventStore, Position } from '../kernel/ports/event-store.js'
import type { Log } from '../kernel/ports/log.js'
import type { Metrics } from '../kernel/ports/metrics.js'
import { watchLoop, type LoopWatch } from '../kernel/loop-watch.js'
import { cleanupStack, type CleanupStack } from '../kernel/cleanup-stack.js'
import { openApi, type OnAdminKeyCreated } from './api.js'
import { openAttempts, openDispatcher } from './dispatcher.js'
import { openEvaluations } from './evaluations.js'
import { connectionLimit, listen } from '../api/server/http-server.js'
import { watchForCrashedRuns } from './crashed-runs.js'
import { openGateway } from './gateway.js'
import { openReadSide, type ReadSide } from './read-side.js'
import { openReadSideLater } from './read-side-later.js'
import { openRequestTraces, refuseOwnAddress } from './request-traces.js'
import { scoringTools } from './scoring-tools.js'
import { openSealing } from './sealing.js'
import { openSigner } from '../adapters/secrets/signer.js'
import { keyRingOf, reconcileSecretsAtStart } from './secrets.js'
import { unreadableSecrets, type UnreadableSecrets } from '../application/secrets/unreadable.js'
import type { Stores } from './stores.js'
import { openTraining, type OpenTraining } from './training.js'
import { openWebhookSender } from './webhook-sender.js'

interface Addresses {
  readonly address: string
  /** Of OTLP/gRPC, if it is configured. */
  readonly otlpGrpcAddress: string | undefined
}

export interface Service extends Addresses {
  /** Takes no more requests, finishes those in flight, and closes the stores. */
  readonly stop: () => Promise<void>
}

/** Starts the roles of this process over the stores. Without the role `api` it serves only its health and metrics. */
export const startService = async (
  config: Config,
  stores: Stores,
  log: Log,
  onAdminKeyCreated: OnAdminKeyCreated = () => undefined,
): Promise<Service> => {
  const cleanup = cleanupStack()
  cleanup.add(() => stores.bucket?.close())
  cleanup.add(() => stores.secrets.close())
  cleanup.add(() => stores.clickHouse.close())
  cleanup.add(() => stores.eventStore.close())
  try {
    const addresses = await start(config, stores, log, onAdminKeyCreated, cleanup)
    return { ...addresses, stop: cleanup.run }
  } catch (error) {
    // Measured: a process that exits while the embedded engine works may hang or crash.
    await cleanup.run().catch(() => undefined)
    throw error
  }
}

/** Each part adds its stop to `cleanup` once it is started, so the parts stop in reverse order. */
const start = async (
  config: Config,
  stores: Stores,
  log: Log,
  onAdminKeyCreated: OnAdminKeyCreated,
  cleanup: CleanupStack,
): Promise<Addresses> => {
  const servesApi = config.roles.has('api')
  const metrics = openMetrics()
  // The other half is for the read side, garbage and buffers.
  const memory = new MemoryAccount(config.memoryBytes / 2)
  let address = ''

  const loop = watchLoop((seconds, where) => {
    metrics.loopHoldSeconds.observe({ where: where[0] ?? 'none' }, seconds)
    if (seconds > LOGGED_HOLD_SECONDS) log.warn('loop.held', { ms: Math.round(seconds * 1000), where })
  })
  const readSide = await startReadSide(config, stores, log, metrics, loop, cleanup)
  const sealing = await openSealing(config, stores, log)
  cleanup.add(() => sealing.stop())

  const attempts = openAttempts(config, stores.bucket, log)
  cleanup.add(() => attempts.close())
  const webhookSender = openWebhookSender(config, () => address)
  cleanup.add(() => webhookSender.close())
  const endingTests = new AbortController()
  setMaxListeners(0, endingTests.signal)
  const ports = {
    ...stores,
    attempts,
    clock: systemClock,
    ids: systemIds,
    sha256,
    randomKey,
    compilePattern: compileRe2,
    scoringTools,
    sealing: sealing.current,
    hmacSha256,
    signer: openSigner(keyRingOf(config)),
    vendor: config.vendor,
    publicUrl: config.publicUrl,
    webhookSender,
    endingTests: endingTests.signal,
    log,
    unreadableSecrets: unreadableSecrets({ ...stores, log }),
  }

  if (servesApi) {
    const reconciling = reconcileSecretsAtStart(ports, config)
    cleanup.add(() => reconciling)
    // An embedded log has one writer, so nothing may be written before this is done.
    if (config.eventStoreUrl === null) await reconciling
  }

  const training = await openTraining(config, ports)
  cleanup.add(() => training.stop())

  const gateway = servesApi
    ? await openGateway(config, { ...ports, engine: training.engine }, metrics, memory, () => address)
    : undefined
  cleanup.add(() => gateway?.close())

  const checks = healthChecks(ports, readSide, metrics, training)
  const api =
    gateway &&
    (await openApi(
      config,
      { ...ports, ...checks, gateway: gateway.gateway, training: training.training },
      readSide,
      onAdminKeyCreated,
    ))
  cleanup.add(() => api?.services.access.close())

  const traces =
    config.otlpExportUrl === null ? undefined : openRequestTraces(config.otlpExportUrl, log, metrics)
  cleanup.add(() => traces?.close())
  const app = createApp(
    api?.services.access ?? ANONYMOUS,
    stores.clickHouse.reader,
    memory,
    api?.routes ?? serviceRoutes(checks),
    log,
    { requestSeconds: metrics.requestSeconds, loop, onFinished: traces?.add },
    { origins: config.corsOrigins, vendor: config.vendor },
    api && { pages: await loadWebPages(WEB), bootOf: bootFrom(api.services), publicUrl: config.publicUrl },
  )
  const server = await listen(app.callback(), config, connectionLimit(openFileLimit(), log))
  address = server.address
  sealing.announce()
  if (api !== undefined && config.publicUrl === null && !isLoopback(config.host))
    log.warn('http.any_host', {
      host: config.host,
      should: 'set TALLYTREE_PUBLIC_URL, so that pages and sessions work at no other host name',
    })

  let grpc: GrpcServer | undefined
  let dispatcher: Dispatcher | undefined
  let evaluations: Evaluations | undefined
  // The server and the dispatcher may take seconds to finish what is in flight, so they stop at the same time.
  cleanup.add(async () => {
    gateway?.hurry()
    training.hurry()
    const testsOver = setTimeout(() => endingTests.abort(), TESTS_FINISH_WITHIN_MS)
    await Promise.all([server.close(), grpc?.close(), dispatcher?.stop(), evaluations?.stop()])
    clearTimeout(testsOver)
  })
  if (config.otlpExportUrl !== null) refuseOwnAddress(config.otlpExportUrl, address, config)
  if (api !== undefined && config.otlpGrpcPort !== null) {
    // Loaded only when used.
    const { listenGrpc } = await import('../api/otel/grpc-server.js')
    const parts = { services: api.services, memory, log, requestSeconds: metrics.requestSeconds, loop }
    grpc = await listenGrpc(parts, { host: config.host, port: config.otlpGrpcPort })
  }
  if (config.roles.has('dispatcher')) {
    dispatcher = await openDispatcher(config, stores, { log, metrics, webhookSender })
    evaluations = await openEvaluations(config, ports, readSide, api)
    await training.startWork()
    cleanup.add(watchForCrashedRuns(ports, stores.clickHouse.reader, () => readSide.reached()))
  }
  return { address, otlpGrpcAddress: grpc?.address }
}

/** A longer hold of the event loop is logged, because every request and stream waits meanwhile. */
const LOGGED_HOLD_SECONDS = 0.2

const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|::1)$/.test(host)

/** Tests of webhooks in flight end within this time, so that they are answered before connections are cut. */
const TESTS_FINISH_WITHIN_MS = 5000

const ANONYMOUS = { authenticate: () => undefined, authenticateSession: () => undefined }

const startReadSide = async (
  config: Config,
  stores: Stores,
  log: Log,
  metrics: Metrics,
  loop: LoopWatch,
  cleanup: CleanupStack,
): Promise<ReadSide> => {
  const open = () => openReadSide(config, stores, systemClock, log, loop)
  const readSide = config.clickHouseUrl === null ? await open() : await openReadSideLater(open, config, log)
  cleanup.add(() => readSide.stop())
  const { behind } = readSide
  if (behind !== undefined)
    metrics.beforeRead(async () => metrics.projectionLagEvents.set({}, await behind()))
  return readSide
}

const SECRETS_FAIL =
  'secrets of the log have no value or cannot be decrypted, the log line secrets.unreadable names each; ' +
  'restore secrets.db and the master keys, or store the values again'

/** Whether the read models have reached what was the end of the log when this was first asked. */
const caughtUpOnce = (eventStore: Pick<EventStore, 'head'>, { reached }: Pick<ReadSide, 'reached'>) => {
  let start: Position | undefined
  let isReached = false
  return async () => (isReached ||= reached() >= (start ??= await eventStore.head()))
}

const healthChecks = (
  {
    eventStore,
    clickHouse,
    health,
    unreadableSecrets,
  }: Stores & { readonly unreadableSecrets: UnreadableSecrets },
  readSide: ReadSide,
  metrics: Metrics,
  { engineFails }: Pick<OpenTraining, 'engineFails'>,
): HealthChecks => ({
  metrics,
  engineFails,
  isReady: caughtUpOnce(eventStore, readSide),
  quarantined: readSide.quarantined,
  unreadableEvents: () =>
    health.unreadableEvents() ?? health.reason('log-tree') ?? health.reason('log-witnesses'),
  readsFail: () => readSide.failing?.() ?? clickHouse.away() ?? health.reason('reads'),
  writesBlocked: () => health.writesBlocked(eventStore),
  filesFail: () =>
    health.reason('blob-content') ?? health.reason('blob-reads') ?? health.reason('blob-cache'),
  secretsFail: async () => ((await unreadableSecrets.any()) ? SECRETS_FAIL : undefined),
  writesFail: () => health.reason('event-log-reads') ?? health.reason('blobs'),
})
