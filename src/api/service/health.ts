import { nullable } from '../../domain/codec/containers.js'
import { oneOf, string } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { route, type AnyRoute } from '../route.js'

/** What a health check looks at. */
export interface Vitals {
  /** Writes are accepted and access is loaded. */
  readonly isReady: () => boolean
  /** Events whose rows were refused and set aside. */
  readonly quarantined: () => number
}

export const serviceRoutes = ({ isReady, quarantined }: Vitals): readonly AnyRoute[] => [
  route({
    method: 'get',
    path: '/health',
    summary: 'Whether writes are accepted.',
    access: 'open',
    answer: {
      schema: open('Health', {
        required: { status: oneOf('ok', 'degraded') },
        optional: { quarantined_events: string },
      }).schema,
      otherwise: {
        503: {
          says: 'Not yet; Retry-After says when to ask again.',
          schema: open('Starting', { required: { status: oneOf('starting') } }).schema,
          headers: ['Retry-After'],
        },
      },
    },
    handle: () => Promise.resolve(healthOf(isReady(), quarantined())),
  }),
  route({
    method: 'get',
    path: '/server_info',
    summary: 'What SDKs ask before they begin.',
    access: 'open',
    answer: open('ServerInfo', {
      required: { min_required_weave_python_version: string, trace_server_version: nullable(string) },
    }),
    handle: () =>
      Promise.resolve({ body: { min_required_weave_python_version: '0.0.0', trace_server_version: null } }),
  }),
]

/** All members are strings: that is how SDKs read it. */
const healthOf = (ready: boolean, quarantined: number) => {
  if (!ready) return { status: 503, body: { status: 'starting' }, headers: { 'Retry-After': '1' } }
  return quarantined === 0
    ? { body: { status: 'ok' } }
    : { body: { status: 'degraded', quarantined_events: String(quarantined) } }
}
