import type { BlobStore } from '../../domain/ports/blobs.js'
import type { EventStore, RecordedEvent } from '../../domain/ports/event-store.js'
import { FieldUnreadable, readBack } from '../../domain/spill/read-back.js'
import { completed, needsEarlierEvents } from '../calls/complete.js'
import type { ProjectedEvent } from '../projection.js'
import { sizeOf } from './gathering.js'
import { NotProjectable } from './not-projectable.js'

/**
 * The event with its spilled fields read back from the blob store.
 *
 * @throws NotProjectable when a blob is gone or is not what a field can be; a failure to read is the store's own error
 */
const resolved = async (blobs: BlobStore, event: RecordedEvent): Promise<ProjectedEvent> => {
  try {
    return { ...event, data: await readBack(blobs, event.data) }
  } catch (error) {
    if (!(error instanceof FieldUnreadable)) throw error
    throw new NotProjectable(error.message, { cause: error })
  }
}

/** An event as projections see it, and the size of what was read for it from its stream. */
interface Whole {
  readonly event: ProjectedEvent
  readonly bytesRead: number
}

/**
 * The event with its spilled fields, and with what its rows need of earlier events of its stream.
 *
 * @throws NotProjectable
 */
export const wholeEvent = async (
  { blobs, eventStore }: { readonly blobs: BlobStore; readonly eventStore: Pick<EventStore, 'readStream'> },
  event: RecordedEvent,
): Promise<Whole> => {
  const own = isSpilled(event) ? await resolved(blobs, event) : event
  if (!needsEarlierEvents(event.type, event.data, event.revision)) return { event: own, bytesRead: 0 }
  const earlier: ProjectedEvent[] = []
  let bytesRead = 0
  for await (const one of eventStore.readStream(event.stream)) {
    if (one.revision >= event.revision) break
    if (one.type.startsWith('Conflicting')) continue
    bytesRead += sizeOf(one)
    earlier.push(one.type === 'CallEnded' && isSpilled(one) ? await resolved(blobs, one) : one)
    // Of the events before it, anything but a start needs only the start.
    if (one.type === 'CallStarted') break
  }
  return { event: completed(own, earlier), bytesRead }
}

const isSpilled = ({ data }: RecordedEvent): boolean => {
  for (const _field in data['spilled'] as object) return true
  return false
}
