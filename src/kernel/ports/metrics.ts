/** Labels of a metric's series. Each has few values, and none is tenant data. */
type Labels = Readonly<Record<string, string>>
type None = Readonly<Record<never, string>>

export interface Counter<L extends Labels = None> {
  add(labels: L, by?: number): void
}

export interface Gauge<L extends Labels = None> {
  set(labels: L, value: number): void
}

export interface Histogram<L extends Labels = None> {
  observe(labels: L, value: number): void
}

export type RequestSeconds = Histogram<{
  readonly method: string
  /** The route's path template. */
  readonly route: string
  /** `2xx`, or `aborted` if the response was not sent completely. */
  readonly status: string
}>

/** Metrics of the dispatcher. Times are in seconds. */
export interface WebhookMetrics {
  readonly attempts: Counter<{ readonly result: string; readonly class: string }>
  readonly attemptSeconds: Histogram<{ readonly phase: string }>
  readonly deliveries: Gauge<{ readonly state: string }>
  readonly oldestDueSeconds: Gauge
  /** Lag of the matching behind the log, in events. */
  readonly scheduleLagEvents: Gauge
  readonly eventToFirstAttemptSeconds: Histogram
  readonly eventToSuccessSeconds: Histogram
  readonly inFlight: Gauge
  /** Number of endpoints by circuit-breaker state. */
  readonly breakers: Gauge<{ readonly state: string }>
  readonly outcomesUnknown: Counter
  readonly ssrfBlocked: Counter
  /** Events that were skipped because they could not be matched or folded. */
  readonly eventsQuarantined: Gauge
  readonly matches: Counter
  readonly suppressed: Counter<{ readonly reason: string }>
  readonly matchSeconds: Histogram
}

/** Metrics of the gateway's upstream requests. */
export interface GatewayMetrics {
  /** `answered`, `refused` (a 4xx status), `fault` or `aborted`. */
  readonly tries: Counter<{ readonly outcome: string }>
  /** Number of upstream models whose circuit breaker is open. */
  readonly targetsOut: Gauge
}

/** Metrics of this process for its operator. No tenant is named. */
export interface Metrics {
  readonly requestSeconds: RequestSeconds
  /** For how long steps held the event loop, by route or follower. */
  readonly loopHoldSeconds: Histogram<{ readonly where: string }>
  readonly projectionLagEvents: Gauge
  /** Spans of this service's own requests that did not reach the collector. */
  readonly spansDropped: Counter
  readonly webhooks: WebhookMetrics
  readonly gateway: GatewayMetrics
  /** Runs before each scrape, for computed gauges. A failure does not fail the scrape. */
  beforeRead(task: () => void | Promise<void>): void
  /** All metrics in the Prometheus text format. */
  read(): Promise<string>
}
