import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { within } from '../../kernel/within.js'
import type { GatewayMetrics, Metrics, WebhookMetrics } from '../../kernel/ports/metrics.js'

/** Histogram bounds of request durations in seconds, from a point read to the timeouts. */
const REQUEST_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Holds of the event loop in seconds; over 0.2 they are logged. */
const HOLD_BOUNDS = [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]

/** An unreachable store must not delay the scrape longer than this. */
const PATIENCE_MS = 2000

/** The longest delay of a timer. */
const NEVER_MS = 2 ** 31 - 1

/** Uses a registry of its own, because several services may run in one process in tests. */
export const openMetrics = (): Metrics => {
  const registry = new Registry()
  // The lag of the event loop is sampled by a timer, which would wake an idle process: only its value at a read is kept.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS })
  for (const figure of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'])
    registry.removeSingleMetric(`nodejs_eventloop_lag_${figure}_seconds`)
  const tasks: (() => void | Promise<void>)[] = []
  const register = metricFactory(registry)
  return {
    requestSeconds: register.histogram(
      'http_request_duration_seconds',
      'Duration of requests up to the end of the response, by method, route and status class.',
      REQUEST_BOUNDS,
      ['method', 'route', 'status'],
    ),
    loopHoldSeconds: register.histogram(
      'tallytree_loop_hold_seconds',
      'Time for which one step held the event loop while requests or followers were in progress, by the latest of them.',
      HOLD_BOUNDS,
      ['where'],
    ),
    projectionLagEvents: register.gauge(
      'projection_lag_events',
      'Events in the log that are not projected yet. Absent in processes without the projector role.',
    ),
    spansDropped: register.counter(
      'tallytree_trace_spans_dropped_total',
      'Spans of own requests that the collector of TALLYTREE_OTLP_EXPORT_URL did not take.',
    ),
    webhooks: registerWebhooks(register),
    gateway: registerGateway(register),
    beforeRead: (task) => void tasks.push(task),
    read: async () => {
      await within(PATIENCE_MS, Promise.allSettled(tasks.map(async (task) => task())))
      return registry.metrics()
    },
  }
}

/** Gauges are absent until they are set. */
const metricFactory = (registry: Registry) => {
  const registers = [registry]
  return {
    counter: <const L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) => {
      const counter = new Counter({ name, help, labelNames: [...labelNames], registers })
      return { add: (labels: Readonly<Record<L, string>>, by = 1) => counter.inc(labels, by) }
    },
    gauge: <const L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) => {
      const gauge = new Gauge({ name, help, labelNames: [...labelNames], registers })
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

type MetricFactory = ReturnType<typeof metricFactory>

const registerGateway = ({ counter, gauge }: MetricFactory): GatewayMetrics => ({
  tries: counter(
    'gateway_upstream_attempts_total',
    'Requests to upstreams that got a response head or failed, by outcome.',
    ['outcome'],
  ),
  targetsOut: gauge(
    'gateway_open_circuits',
    'Models of upstreams whose circuit breaker is open after consecutive failures.',
  ),
})

/** In seconds. An attempt takes at most 30 s, a delivery up to days. */
const ATTEMPT_BOUNDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30]
const FIRST_ATTEMPT_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600]
const SUCCESS_BOUNDS = [0.01, 0.05, 0.25, 1, 5, 30, 120, 600, 3600, 7200, 43_200, 86_400, 432_000]
const MATCH_BOUNDS = [0.000_01, 0.000_1, 0.001, 0.01, 0.1, 1]

const registerWebhooks = ({ counter, gauge, histogram }: MetricFactory): WebhookMetrics => ({
  attempts: counter('webhook_attempts_total', 'Finished delivery attempts, by result.', ['result', 'class']),
  attemptSeconds: histogram(
    'webhook_attempt_seconds',
    'Duration of delivery attempts, by phase.',
    ATTEMPT_BOUNDS,
    ['phase'],
  ),
  deliveries: gauge('webhook_deliveries', 'Unfinished deliveries, by state.', ['state']),
  oldestDueSeconds: gauge('webhook_oldest_due_seconds', 'Age of the oldest due delivery since its due time.'),
  scheduleLagEvents: gauge(
    'webhook_schedule_lag_events',
    'Events in the log not yet evaluated against automations. Counts at most 500 with an EventStoreDB.',
  ),
  eventToFirstAttemptSeconds: histogram(
    'webhook_event_to_first_attempt_seconds',
    'Time from an event to the first attempt of the delivery that it triggered.',
    FIRST_ATTEMPT_BOUNDS,
  ),
  eventToSuccessSeconds: histogram(
    'webhook_event_to_success_seconds',
    'Time from an event to the success of the delivery that it triggered.',
    SUCCESS_BOUNDS,
  ),
  inFlight: gauge('webhook_in_flight', 'Attempts in progress.'),
  breakers: gauge('webhook_breaker_state', 'Endpoints by the state of their circuit breaker.', ['state']),
  outcomesUnknown: counter('webhook_outcome_unknown_total', 'Attempts with an unknown outcome.'),
  ssrfBlocked: counter(
    'webhook_ssrf_blocked_total',
    'Attempts blocked because the target address is not allowed.',
  ),
  eventsQuarantined: gauge(
    'automation_quarantined_events',
    'Events skipped because evaluating automations failed on them.',
  ),
  matches: counter('automation_matches_total', 'Events that matched an automation.'),
  suppressed: counter('automation_suppressed_total', 'Matches without a delivery, by reason.', ['reason']),
  matchSeconds: histogram(
    'automation_match_seconds',
    'Duration of evaluating one event against all automations.',
    MATCH_BOUNDS,
  ),
})
