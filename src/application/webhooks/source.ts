import type * as t from 'io-ts'
import { instantOf } from '../../kernel/codec/instant.js'
import type { deliverySource } from '../../domain/webhooks/deliveries/events.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'

/** The event that triggered a delivery, in the format of delivery events. */
export const sourceOf = ({
  id,
  type,
  stream,
  position,
  recordedAt,
}: RecordedEvent): t.TypeOf<typeof deliverySource> => ({
  event_id: id,
  type,
  stream,
  position: String(position),
  recorded_at: instantOf(recordedAt),
})
