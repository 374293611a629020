import type { BlobStore } from '../../domain/ports/blobs.js'
import type { RecordedEvent } from '../../domain/ports/event-store.js'
import { FieldUnreadable, readBack } from '../../domain/spill/read-back.js'
import type { ProjectedEvent } from '../projection.js'
import { NotProjectable } from './not-projectable.js'

/**
 * The event with its spilled fields read back from the blob store.
 *
 * @throws NotProjectable when a blob is gone or is not what a field can be; a failure to read is the store's own error
 */
export const resolved = async (blobs: BlobStore, event: RecordedEvent): Promise<ProjectedEvent> => {
  try {
    return { ...event, data: await readBack(blobs, event.data) }
  } catch (error) {
    if (!(error instanceof FieldUnreadable)) throw error
    throw new NotProjectable(error.message, { cause: error })
  }
}
