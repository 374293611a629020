import type { InferenceMetrics } from '../../kernel/ports/metrics.js'
import type { MetricFactory } from './metric-factory.js'

export const registerInference = ({ counter, gauge }: MetricFactory): InferenceMetrics => ({
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
