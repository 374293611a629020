import type { Services } from '../application/services.js'
import { join } from 'node:path'
import { undiciUpstreamClient } from '../adapters/outgoing/upstream-client/undici-upstream-client.js'
import { fileSnapshots } from '../adapters/snapshots/file-snapshots.js'
import { targetOf } from '../adapters/outgoing/guard/target.js'
import type { Gateway } from '../gateway/gateway.js'
import type { Engine } from '../engine/engine.js'
import { withEngine } from '../gateway/training/engine-upstream.js'
import { engineModelOf } from '../gateway/training/trained-targets.js'
import type { CallsErased } from '../domain/erasures/erasure.js'
import { followLog, type LogFollower } from '../kernel/follow-log.js'
import { AnswerCache } from '../gateway/completions/answer-cache.js'
import { CallEndWriter } from '../gateway/completions/call-end-writer.js'
import { InFlightCompletions } from '../gateway/completions/in-flight.js'
import { TargetStates } from '../gateway/upstreams/target-states.js'
import { openUpstreamDirectory } from '../gateway/upstreams/upstream-directory.js'
import type { Config } from '../config.js'
import type { MemoryAccount } from '../kernel/memory-account.js'
import type { Metrics } from '../kernel/ports/metrics.js'
import { modelOf } from '../domain/gateway/upstreams/offered.js'
import { configuredUpstreams } from '../gateway/upstreams/configured-upstreams.js'
import { openLimits } from '../gateway/limits/open-limits.js'
import { upstreamCredentials } from '../gateway/upstreams/upstream-credentials.js'

export interface OpenGateway {
  readonly gateway: Gateway
  /** Called when the service begins to stop: ends completions in flight before the server cuts their connections. */
  readonly hurry: () => void
  /** Waits until the ends of calls are recorded, then closes. Call it after the server has closed. */
  readonly close: () => Promise<void>
}

/** A snapshot of the ledger. It may be deleted while the service is stopped. */
const LEDGER_FILE = 'ledger.json'

/** One second before the HTTP server cuts connections, so that clients still get the reason. */
const FINISH_WITHIN_MS = 7000
const SETTLE_WITHIN_MS = 1000

/** Opens the gateway: upstreams of the operator's file and of the log, their client and limits. */
export const openGateway = async (
  config: Pick<Config, 'upstreams' | 'dataDirectory' | 'eventStoreUrl' | 'apiProcesses'>,
  services: Pick<Services, 'eventStore' | 'blobs' | 'ids' | 'clock' | 'secrets' | 'log'> & {
    readonly engine: Engine
  },
  metrics: Pick<Metrics, 'gateway' | 'beforeRead'>,
  memory: MemoryAccount,
  address: () => string,
): Promise<OpenGateway> => {
  const configured = configuredUpstreams(config)
  const instance = services.ids.next()
  const limits = await openLimits(
    { ...services, snapshots: fileSnapshots(join(config.dataDirectory, LEDGER_FILE)) },
    { apiProcesses: config.apiProcesses, instance, isAlone: config.eventStoreUrl === null },
  )
  const directory = await openUpstreamDirectory(services, configured.upstreams)
  const others = undiciUpstreamClient({
    cidrs: config.upstreams.allowCidrs,
    listening: () => {
      const own = targetOf(address())
      return own && { address: own.host, port: own.port }
    },
  })
  const upstreamClient = withEngine(services, services.engine, others)
  const targets = new TargetStates(
    () => performance.now(),
    Math.random,
    (upstreamId, modelId) =>
      engineModelOf(upstreamId, modelId) ?? modelOf(directory.all(), upstreamId, modelId),
  )
  directory.onChange(() => targets.directoryChanged())
  metrics.beforeRead(() => metrics.gateway.targetsOut.set({}, targets.open))
  const [inFlight, callEnds] = [new InFlightCompletions(), new CallEndWriter(services.log)]
  const answers = new AnswerCache()
  const stopping = new AbortController()
  const erasures = await dropErased(services, answers, stopping.signal)
  return {
    gateway: {
      upstreamClient,
      upstreams: directory,
      targets,
      credentialsOf: upstreamCredentials(services, {
        credentials: configured.credentials,
        variable: config.upstreams.variable,
      }),
      withoutStreamOptions: new Set(),
      log: services.log,
      keepAlive: config.upstreams.keepAlive,
      metrics: metrics.gateway,
      inFlight,
      callEnds,
      answers,
      memory,
      instance,
      ledgerFollower: limits.follower,
      limiter: limits.limiter,
      admit: limits.admit,
    },
    hurry: () => {
      setTimeout(() => inFlight.stop(), FINISH_WITHIN_MS).unref()
    },
    close: async () => {
      inFlight.stop()
      await callEnds.drain(SETTLE_WITHIN_MS, inFlight.idle())
      directory.close()
      stopping.abort()
      await erasures?.stopped
      await limits.stop()
      await upstreamClient.close()
    },
  }
}

/** Drops the kept answers of each project whose calls are erased. */
const dropErased = async (
  { eventStore }: Pick<Services, 'eventStore'>,
  answers: AnswerCache,
  signal: AbortSignal,
): Promise<LogFollower | undefined> =>
  eventStore.erase === undefined
    ? undefined
    : followLog({
        eventStore,
        types: new Set(['CallsErased']),
        after: await eventStore.head(),
        onEvent: ({ data }) => answers.drop((data as unknown as CallsErased).project_id),
        onError: () => undefined,
        signal,
      })
