import type { Metrics } from '../../kernel/ports/metrics.js'
import type { AnyRoute } from '../server/route.js'
import { openRoute } from '../server/route-kinds.js'

/** Needs no authentication, as scrapers expect, because no metric names a tenant. */
export const metricsRoute = (metrics: Pick<Metrics, 'read'>): AnyRoute =>
  openRoute({
    method: 'get',
    path: '/metrics',
    summary: 'Metrics of this process in the Prometheus text format, without tenant names.',
    response: { schema: { type: 'string' }, type: 'text/plain' },
    handle: async () => ({ body: await metrics.read(), type: 'text/plain; version=0.0.4; charset=utf-8' }),
  })
