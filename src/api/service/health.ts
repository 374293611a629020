import type { Metrics } from '../../kernel/ports/metrics.js'
import { nullable } from '../../kernel/codec/containers.js'
import { oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { answering, type AnyRoute } from '../server/route.js'
import { openRoute } from '../server/route-kinds.js'

/** What a health check looks at. */
export interface HealthChecks {
  /** Events whose rows were refused and set aside. */
  readonly quarantined: () => number
  /** How many events of the log are unreadable, and what to do. */
  readonly unreadableEvents: () => string | undefined
  /** Why reads fail or are stale; undefined if they are healthy. */
  readonly readsFail: () => string | undefined
  /** False until the read models have what the log had when this process started. */
  readonly isReady: () => Promise<boolean>
  /** Why no write can succeed now; undefined if writes can. */
  readonly writesBlocked: () => Promise<string | undefined>
  /** Why some writes fail although others succeed. */
  readonly writesFail: () => string | undefined
  /** Which stored files are damaged. */
  readonly filesFail: () => string | undefined
  /** Why secrets cannot be read. Names no tenant: the check needs no key. */
  readonly secretsFail: () => Promise<string | undefined>
  /** Why the built-in engine does not answer; undefined if it does. */
  readonly engineFails: () => Promise<string | undefined>
  readonly metrics: Pick<Metrics, 'read'>
}

const reasons = {
  quarantined_events: string,
  event_log: string,
  reads: string,
  files: string,
  secrets: string,
}

const health = open('Health', {
  required: { status: oneOf('ok', 'degraded') },
  optional: { ...reasons, writes: string },
})
const unavailable = open('Unavailable', {
  required: { status: oneOf('unavailable'), writes: string },
  optional: reasons,
})

const healthRoute = (path: string, checks: Omit<HealthChecks, 'metrics'>): AnyRoute =>
  openRoute<undefined, undefined, (typeof health)['answer'] | (typeof unavailable)['answer']>({
    method: 'get',
    path,
    summary: 'Whether the service accepts writes, with the reasons if it is degraded.',
    response: answering(health, {
      otherStatuses: {
        503: {
          says: 'No write can succeed. Retry-After: when to check again.',
          schema: unavailable.schema,
          headers: ['Retry-After'],
        },
      },
    }),
    handle: () => healthOf(checks),
  })

const alive = open('Alive', { required: { status: oneOf('ok') } })
const notReady = open('NotReady', { required: { status: oneOf('unavailable'), reads: string } })

/** For a supervisor that restarts a process that does not answer. */
const liveRoute = openRoute({
  method: 'get',
  path: '/health/live',
  summary: 'That the process answers.',
  response: alive,
  handle: () => Promise.resolve({ body: { status: 'ok' as const } }),
})

/** For a load balancer: a process of a new release gets requests once its tables are filled. It stays ready. */
const readyRoute = ({ isReady, readsFail }: Pick<HealthChecks, 'isReady' | 'readsFail'>): AnyRoute =>
  openRoute<undefined, undefined, (typeof alive)['answer'] | (typeof notReady)['answer']>({
    method: 'get',
    path: '/health/ready',
    summary: 'Whether the read models have what the log had when this process started.',
    response: answering(alive, {
      otherStatuses: {
        503: {
          says: 'They are being filled, or not reached yet. Retry-After: when to check again.',
          schema: notReady.schema,
          headers: ['Retry-After'],
        },
      },
    }),
    handle: async () =>
      (await isReady().catch(() => false))
        ? { body: { status: 'ok' } }
        : {
            status: 503,
            body: { status: 'unavailable', reads: readsFail() ?? 'the read models are being filled' },
            headers: { 'Retry-After': '1' },
          },
  })

export const serviceRoutes = ({ metrics, ...checks }: HealthChecks): readonly AnyRoute[] => [
  healthRoute('/health', checks),
  healthRoute('/v1/health', checks),
  liveRoute,
  readyRoute(checks),
  openRoute({
    method: 'get',
    path: '/server_info',
    summary: 'Version information that SDKs request at start.',
    response: open('ServerInfo', {
      required: { min_required_weave_python_version: string, trace_server_version: nullable(string) },
    }),
    handle: () =>
      Promise.resolve({ body: { min_required_weave_python_version: '0.0.0', trace_server_version: null } }),
  }),
  metricsRoute(metrics),
]

/** All members are strings: that is how SDKs read it. */
const healthOf = async (checks: Omit<HealthChecks, 'metrics'>) => {
  const blocked = await checks.writesBlocked()
  const quarantined = checks.quarantined()
  const eventLog = checks.unreadableEvents()
  const reads = checks.readsFail()
  const writes = blocked ?? checks.writesFail()
  const files = checks.filesFail()
  // The store of the secrets may be away itself.
  const secrets = await checks.secretsFail().catch((error: unknown) => (error as Error).message)
  const wrong = {
    ...(quarantined === 0 ? {} : { quarantined_events: String(quarantined) }),
    ...(eventLog === undefined ? {} : { event_log: eventLog }),
    ...(reads === undefined ? {} : { reads }),
    ...(writes === undefined ? {} : { writes }),
    ...(files === undefined ? {} : { files }),
    ...(secrets === undefined ? {} : { secrets }),
  }
  if (blocked !== undefined)
    return {
      status: 503,
      body: { status: 'unavailable', ...wrong, writes: blocked } as const,
      headers: { 'Retry-After': '1' },
    }
  const status: 'ok' | 'degraded' = Object.keys(wrong).length === 0 ? 'ok' : 'degraded'
  return { body: { status, ...wrong } }
}

/** Needs no authentication, as scrapers expect, because no metric names a tenant. */
const metricsRoute = (metrics: Pick<Metrics, 'read'>): AnyRoute =>
  openRoute({
    method: 'get',
    path: '/metrics',
    summary: 'Metrics of this process in the Prometheus text format, without tenant names.',
    response: { schema: { type: 'string' }, type: 'text/plain' },
    handle: async () => ({ body: await metrics.read(), type: 'text/plain; version=0.0.4; charset=utf-8' }),
  })
