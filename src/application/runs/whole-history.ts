import type { BlobStore } from '../../kernel/ports/blobs.js'
import type { EventStore, RecordedEvent } from '../../kernel/ports/event-store.js'
import { FieldUnreadable, readBack } from '../../kernel/spill/read-back.js'

/** An event with the lines of its history, which may be in a blob. Without its blob it has none. */
export const wholeHistory =
  (blobs: Pick<BlobStore, 'get'>) =>
  async (event: RecordedEvent): Promise<RecordedEvent> => {
    if (event.type !== 'HistoryLogged') return event
    try {
      return { ...event, data: await readBack(blobs, event.data) }
    } catch (error) {
      if (error instanceof FieldUnreadable) return event
      throw error
    }
  }

/** Streams with the lines of the history. */
export const withWholeHistory = (
  eventStore: Pick<EventStore, 'readStream'>,
  blobs: Pick<BlobStore, 'get'>,
): Pick<EventStore, 'readStream'> => {
  const whole = wholeHistory(blobs)
  return {
    async *readStream(...asked) {
      for await (const event of eventStore.readStream(...asked)) yield whole(event)
    },
  }
}
