import { deliveryEvents, deliveryStream } from '../../delivery/events.js'
import type { RecordedEvent } from '../../ports/event-store.js'
import { webhookEvents, webhookStream } from '../../webhook/events.js'
import { decoded, enveloped } from './decoded.js'
import type { DeliveryTrigger, WebhookTrigger } from './trigger.js'

/** A webhook that was disabled, by hand or by its receiver. */
export const webhookTrigger = (event: RecordedEvent): WebhookTrigger | undefined => {
  if (event.type !== 'WebhookDisabled') return undefined
  const data = decoded(webhookEvents.WebhookDisabled, event)
  if (data === undefined || webhookStream(data.id) !== event.stream) return undefined
  const { id: webhook_id, team, depth, reason } = data
  return {
    kind: 'webhook',
    ...enveloped(event),
    team,
    depth,
    types: ['WEBHOOK_DISABLED'],
    webhook_id,
    reason,
  }
}

/** An attempt that was the last one of its delivery, and did not succeed. */
export const deliveryTrigger = (event: RecordedEvent): DeliveryTrigger | undefined => {
  // Most attempts succeed: those are not worth decoding.
  if (event.type !== 'AttemptFinished' || event.data['outcome'] !== 'dead') return undefined
  const data = decoded(deliveryEvents.AttemptFinished, event)
  if (data === undefined || deliveryStream(data.delivery_id) !== event.stream) return undefined
  const { delivery_id, team, reason } = data
  return {
    kind: 'delivery',
    ...enveloped(event),
    team,
    depth: null,
    types: ['DELIVERY_DEAD'],
    delivery_id,
    reason,
  }
}
