import { within } from '../../kernel/within.js'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type * as Port from '../../kernel/ports/metrics.js'
import { registerInference } from './gateway.js'
import { metricFactory } from './metric-factory.js'
import { registerWebhooks } from './webhooks.js'

/** Histogram bounds of request durations in seconds, from a point read to the timeouts. */
const REQUEST_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** An unreachable store must not delay the scrape longer than this. */
const PATIENCE_MS = 2000

/** Uses a registry of its own, because several services may run in one process in tests. */
export const openMetrics = (): Port.Metrics => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const tasks: (() => void | Promise<void>)[] = []
  const register = metricFactory(registry)
  return {
    requestSeconds: register.histogram(
      'http_request_duration_seconds',
      'Duration of requests up to the end of the response, by method, route and status class.',
      REQUEST_BOUNDS,
      ['method', 'route', 'status'],
    ),
    projectionLagEvents: register.gauge(
      'projection_lag_events',
      'Events in the log that are not projected yet. Absent in processes without the projector role.',
    ),
    webhooks: registerWebhooks(register),
    inference: registerInference(register),
    beforeRead: (task) => void tasks.push(task),
    read: async () => {
      await within(PATIENCE_MS, Promise.allSettled(tasks.map(async (task) => task())))
      return registry.metrics()
    },
  }
}
