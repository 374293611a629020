import type { DeliveryEvent, DeliveryScheduled } from '../../domain/webhooks/deliveries/events.js'
import { DEEPEST, sourceOf } from '../../domain/webhooks/deliveries/events.js'
import { deliveryIdOf } from '../../domain/webhooks/deliveries/id.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import type { Matched } from './matching.js'

export type ScheduleEvent = Extract<DeliveryEvent, { type: 'DeliveryScheduled' | 'DeliverySuppressed' }>

/** The event to append for each match: the same for every dispatcher and every replay. */
export const scheduleEvents = (
  sha256: Sha256,
  event: RecordedEvent,
  depthOfDelivery: number,
  /** The next number of a team's delivery. */
  nextSequence: () => number,
) => {
  const source = sourceOf(event)
  return ({ automation, eventType, team, depth, variables }: Matched): ScheduleEvent => {
    const common = {
      delivery_id: deliveryIdOf(sha256, { eventId: event.id, automationId: automation.id, action: 0 }),
      team,
      automation_id: automation.id,
      source,
      depth: depth ?? depthOfDelivery + 1,
    }
    if (common.depth > DEEPEST) return { type: 'DeliverySuppressed', data: { reason: 'loop', ...common } }
    const data: DeliveryScheduled = {
      automation_revision: Number(automation.revision),
      webhook_id: automation.content.webhook,
      event_type: eventType,
      variables,
      scheduled_at: source.recorded_at,
      replay_id: null,
      sequence: nextSequence(),
      ...common,
    }
    return { type: 'DeliveryScheduled', data }
  }
}
