import { setTimeout as sleep } from 'node:timers/promises'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type * as Port from '../../domain/ports/metrics.js'
import { registerWebhooks } from './webhooks.js'

/** Bounds of what a request takes, in seconds: from a point read to what time-outs allow. */
const REQUEST_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** A task that looks at a store which is away must not hold up the reader. */
const PATIENCE_MS = 2000

/** The metrics of this process, in a registry of its own. */
export const openMetrics = (): Port.Metrics => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const tasks: (() => void | Promise<void>)[] = []
  const register = registering(registry)
  return {
    requestSeconds: register.histogram(
      'http_request_duration_seconds',
      'Requests by the template of their path and the class of their status, to the end of the answer.',
      REQUEST_BOUNDS,
      ['method', 'route', 'status'],
    ),
    projectionLagEvents: register.gauge(
      'projection_lag_events',
      'Events in the log whose rows cannot be read yet; absent where another process makes them.',
    ),
    webhooks: registerWebhooks(register),
    beforeRead: (task) => void tasks.push(task),
    read: async () => {
      await Promise.race([Promise.allSettled(tasks.map(async (task) => task())), sleep(PATIENCE_MS)])
      return registry.metrics()
    },
  }
}

/** Makes metrics that a registry shows. Gauges are absent until they are set. */
const registering = (registry: Registry) => {
  const registers = [registry]
  return {
    counter: <const L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) => {
      const counter = new Counter({ name, help, labelNames: [...labelNames], registers })
      return { add: (labels: Readonly<Record<L, string>>, by = 1) => counter.inc(labels, by) }
    },
    gauge: <const L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) => {
      const gauge = new Gauge({ name, help, labelNames: [...labelNames], registers })
      gauge.reset()
      if (labelNames.length === 0) gauge.remove()
      return { set: (labels: Readonly<Record<L, string>>, value: number) => gauge.set(labels, value) }
    },
    histogram: <const L extends string = never>(
      name: string,
      help: string,
      buckets: number[],
      labelNames: readonly L[] = [],
    ) => {
      const histogram = new Histogram({ name, help, buckets, labelNames: [...labelNames], registers })
      return {
        observe: (labels: Readonly<Record<L, string>>, value: number) => histogram.observe(labels, value),
      }
    },
  }
}

export type Registering = ReturnType<typeof registering>
