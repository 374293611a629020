/** Words that tell one series of a metric from others. They come from few, and never from tenants. */
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
  /** The template of its path. */
  readonly route: string
  /** `2xx`, or `aborted` if the response was not sent completely. */
  readonly status: string
}>

/** What the dispatcher counts of webhooks; times are in seconds. */
export interface WebhookMetrics {
  readonly attempts: Counter<{ readonly result: string; readonly class: string }>
  readonly attemptSeconds: Histogram<{ readonly phase: string }>
  readonly deliveries: Gauge<{ readonly state: string }>
  readonly oldestDueSeconds: Gauge
  /** How far matching is behind the log. */
  readonly scheduleLagEvents: Gauge
  readonly eventToFirstAttemptSeconds: Histogram
  readonly eventToSuccessSeconds: Histogram
  readonly inFlight: Gauge
  /** How many endpoints have a breaker in a state. */
  readonly breakers: Gauge<{ readonly state: string }>
  readonly outcomesUnknown: Counter
  readonly ssrfBlocked: Counter
  /** Events that cannot be matched or folded, and were passed over. */
  readonly eventsQuarantined: Gauge
  readonly matches: Counter
  readonly suppressed: Counter<{ readonly reason: string }>
  readonly matchSeconds: Histogram
}

/** What a process counts of the upstreams that it asks. */
export interface InferenceMetrics {
  /** `answered`, `refused` by a status of 4xx, `fault`, or `aborted`. */
  readonly tries: Counter<{ readonly outcome: string }>
  /** How many models of upstreams are out for now. */
  readonly targetsOut: Gauge
}

/** What a process counts and measures of itself, for an operator: nothing of it names a tenant. */
export interface Metrics {
  readonly requestSeconds: RequestSeconds
  readonly projectionLagEvents: Gauge
  readonly webhooks: WebhookMetrics
  readonly inference: InferenceMetrics
  /** Runs a task each time before somebody reads, for gauges that are worked out; its failure stops nothing. */
  beforeRead(task: () => void | Promise<void>): void
  /** Everything in the text format of Prometheus. */
  read(): Promise<string>
}
