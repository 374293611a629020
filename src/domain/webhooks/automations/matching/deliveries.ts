import { deliveryEvents, deliveryStream } from '../../deliveries/events.js'
import type { RecordedEvent } from '../../../../kernel/ports/event-store.js'
import { webhookEvents, webhookStream } from '../../events.js'
import { decodeData, envelopeOf } from './decode-data.js'
import type { DeliveryTrigger, WebhookTrigger } from './trigger.js'

/** The trigger of a disabled webhook. */
export const webhookTrigger = (event: RecordedEvent): WebhookTrigger | undefined => {
  if (event.type !== 'WebhookDisabled') return undefined
  const data = decodeData(webhookEvents.WebhookDisabled, event)
  if (data === undefined || webhookStream(data.id) !== event.stream) return undefined
  const { id: webhook_id, team, depth, reason } = data
  return {
    kind: 'webhook',
    ...envelopeOf(event),
    team,
    depth,
    types: ['WEBHOOK_DISABLED'],
    webhook_id,
    reason,
  }
}

/** The trigger of a delivery's last attempt, if it failed. */
export const deliveryTrigger = (event: RecordedEvent): DeliveryTrigger | undefined => {
  // Most attempts succeed: skip decoding them.
  if (event.type !== 'AttemptFinished' || event.data['outcome'] !== 'dead') return undefined
  const data = decodeData(deliveryEvents.AttemptFinished, event)
  if (data === undefined || deliveryStream(data.delivery_id) !== event.stream) return undefined
  const { delivery_id, team, reason } = data
  return {
    kind: 'delivery',
    ...envelopeOf(event),
    team,
    depth: null,
    types: ['DELIVERY_DEAD'],
    delivery_id,
    reason,
  }
}
