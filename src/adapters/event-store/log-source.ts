import type { BlobStore } from '../../kernel/ports/blobs.js'
import type { EventStore } from '../../kernel/ports/event-store.js'
import type { LogSource } from '../../kernel/ports/log-source.js'

/** An event store and the blobs beside it, to copy from. Closing it closes the store. */
export const storedLog = (eventStore: EventStore, blobs: Pick<BlobStore, 'open'>): LogSource => ({
  head: () => eventStore.head(),
  readAll: (after) => eventStore.readAll({ after }),
  eventAt: async ({ stream, revision }) => {
    for await (const event of eventStore.readStream(stream, { from: revision, limit: 1 })) return event
    return undefined
  },
  openBlob: (digest) => blobs.open(digest),
  close: () => eventStore.close(),
})
