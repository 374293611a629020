import type { Schemas } from '../kit/api.js'
import { Status, type Tone } from '../kit/status.js'

type Delivery = Schemas['Delivery']

const STATES: Readonly<Record<Delivery['state'], readonly [Tone, string]>> = {
  pending: ['plain', 'waiting'],
  in_flight: ['running', 'being sent'],
  retrying: ['warn', 'retrying'],
  held: ['plain', 'held'],
  succeeded: ['ok', 'delivered'],
  dead: ['danger', 'failed'],
  canceled: ['plain', 'canceled'],
  suppressed: ['plain', 'suppressed'],
}

export const DELIVERY_STATES = Object.entries(STATES).map(
  ([value, [, label]]) => ({ value: value as Delivery['state'], label }) as const,
)

export const DeliveryState = ({ state }: { readonly state: Delivery['state'] }) => (
  <Status tone={STATES[state][0]}>{STATES[state][1]}</Status>
)

const REASONS: Readonly<Record<NonNullable<Delivery['waiting_reason']>, string>> = {
  webhook_disabled: 'until the webhook is enabled',
  throttled: 'because the receiver asked to wait',
  circuit_breaker: 'because the webhook is paused after failures',
  retry: 'for its next attempt',
  rate_limit: "because of the webhook's limit per minute",
  queue: 'for its turn',
}

/** What a delivery waits for, after "Waiting". */
export const waitingFor = (reason: Delivery['waiting_reason']): string =>
  reason === null ? '' : REASONS[reason]
