import type { DeliveryEvent, DeliveryScheduled } from '../../domain/delivery/events.js'
import { DEEPEST } from '../../domain/delivery/events.js'
import { deliveryIdOf } from '../../domain/delivery/id.js'
import { instantOf } from '../../domain/codec/instant.js'
import type { RecordedEvent } from '../../domain/ports/event-store.js'
import type { Sha256 } from '../../domain/ports/sha256.js'
import type { Matched } from './matching.js'

export type Scheduling = Extract<DeliveryEvent, { type: 'DeliveryScheduled' | 'DeliverySuppressed' }>

/** What is to be written for a match: the same, whoever matches the event again. */
export const schedulingOf = (
  sha256: Sha256,
  source: RecordedEvent,
  { automation, eventType, team, depth, variables }: Matched,
  depthOfDelivery: number,
): Scheduling => {
  const recordedAt = instantOf(source.recordedAt)
  const common = {
    delivery_id: deliveryIdOf(sha256, { eventId: source.id, automationId: automation.id, action: 0 }),
    team,
    automation_id: automation.id,
    source: {
      event_id: source.id,
      type: source.type,
      stream: source.stream,
      position: String(source.position),
      recorded_at: recordedAt,
    },
    depth: depth ?? depthOfDelivery + 1,
  }
  if (common.depth > DEEPEST) return { type: 'DeliverySuppressed', data: { reason: 'loop', ...common } }
  const data: DeliveryScheduled = {
    automation_revision: Number(automation.revision),
    webhook_id: automation.content.webhook,
    event_type: eventType,
    variables,
    scheduled_at: recordedAt,
    replay_id: null,
    ...common,
  }
  return { type: 'DeliveryScheduled', data }
}
