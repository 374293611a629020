import type { InferenceMetrics } from '../../domain/ports/metrics.js'
import type { Registering } from './registering.js'

/** Every metric of the inference gateway there is. */
export const registerInference = ({ counter, gauge }: Registering): InferenceMetrics => ({
  tries: counter(
    'inference_upstream_tries_total',
    'Requests made of upstreams that have got a head or failed, by what became of them.',
    ['outcome'],
  ),
  targetsOut: gauge(
    'inference_upstream_models_out',
    'Models of upstreams that are not asked for now, because they failed several times in a row.',
  ),
})
