import type { RecordedEvent } from './ports/event-store.js'
import { StreamUnreadable } from './ports/event-store-errors.js'

/** An event of which only its place is known. */
export const unreadableEvent = (
  place: Pick<RecordedEvent, 'id' | 'type' | 'stream' | 'revision' | 'position' | 'recordedAt'>,
  reason: string,
): RecordedEvent => ({
  ...place,
  // A time that no date can hold has no text either.
  recordedAt: Number.isNaN(place.recordedAt.getTime()) ? new Date(0) : place.recordedAt,
  data: {},
  metadata: { correlationId: '', causationId: '', actor: '', schemaVersion: 0 },
  size: 0,
  unreadable: reason,
})

/** @throws StreamUnreadable */
export const requireReadable = ({ stream, position, unreadable }: RecordedEvent): void => {
  if (unreadable !== undefined) throw new StreamUnreadable(stream, unreadable, position)
}

/** @throws StreamUnreadable if events of the stream are missing before this one */
export const requireRevision = (next: bigint, { stream, position, revision }: RecordedEvent): void => {
  if (revision > next) throw new StreamUnreadable(stream, `revision ${next} is missing`, position)
}
