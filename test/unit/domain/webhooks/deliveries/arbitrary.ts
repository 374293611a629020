import type { Instant } from '../../../../../src/kernel/codec/instant.js'
import type {
  FinishAttempt,
  AttemptObservation,
} from '../../../../../src/domain/webhooks/deliveries/commands.js'
import { deliveryDecider } from '../../../../../src/domain/webhooks/deliveries/decider.js'
import type {
  DeliveryEvent,
  DeliveryScheduled,
} from '../../../../../src/domain/webhooks/deliveries/events.js'
import type { DeliveryState } from '../../../../../src/domain/webhooks/deliveries/state.js'
import { instantAt } from '../../../../../src/domain/webhooks/deliveries/times.js'

export const START = Date.parse('2026-01-01T00:00:00Z')
export const at = (millis: number): Instant => instantAt(START + millis)

export const aScheduled = (changed: Partial<DeliveryScheduled> = {}): DeliveryScheduled => ({
  delivery_id: 'dlv_1',
  team: 'default',
  automation_id: 'automation-1',
  automation_revision: 0,
  webhook_id: 'webhook-1',
  source: {
    event_id: 'event-1',
    type: 'AliasAdded',
    stream: 'artifact-default/p/c',
    position: '1',
    recorded_at: at(0),
  },
  event_type: 'ADD_ARTIFACT_ALIAS',
  variables: {},
  depth: 0,
  scheduled_at: at(0),
  replay_id: null,
  sequence: 1,
  ...changed,
})

export const observed = (changed: Partial<AttemptObservation> = {}): AttemptObservation => ({
  phases: { total: 100 },
  status: 500,
  error: null,
  body_digest: null,
  body_bytes: null,
  peer: null,
  body_sent: true,
  throttled_until: null,
  ...changed,
})

export const finishing = (
  attempt: number,
  millis: number,
  changed: Partial<FinishAttempt> = {},
): FinishAttempt => ({
  type: 'FinishAttempt',
  deliveryId: 'dlv_1',
  attempt,
  finishedAt: at(millis),
  verdict: { result: 'failed', notBefore: null },
  waitsS: null,
  observed: observed(),
  ...changed,
})

export const after = (
  events: readonly DeliveryEvent[],
  from: DeliveryState = deliveryDecider.initialState(),
): DeliveryState => events.reduce(deliveryDecider.evolve, from)
