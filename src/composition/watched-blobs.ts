import { BlobsUnavailable, type BlobStore } from '../domain/ports/blobs.js'
import type { Log } from '../domain/ports/log.js'
import { failingNow } from './failing-now.js'

export interface WatchedBlobs {
  readonly blobs: BlobStore
  /** Why the last large content was not kept; undefined once some is. */
  readonly failing: () => string | undefined
}

/** The same store, of which is known, and logged as it changes, whether it takes what is to be kept. */
export const watchedBlobs = (blobs: BlobStore, log: Pick<Log, 'error' | 'info'>): WatchedBlobs => {
  const now = failingNow(log, { failed: 'blobs.writes_failed', resumed: 'blobs.writes_resumed' })
  const failed = (error: unknown) => {
    if (error instanceof BlobsUnavailable) now.failed(error.message, { error: error.message })
  }
  const watched = <A>(kept: Promise<A>): Promise<A> => {
    kept.then(now.succeeded, failed)
    return kept
  }
  return {
    blobs: {
      ...blobs,
      put: (content) => watched(blobs.put(content)),
      putStream: (source, limitBytes) => watched(blobs.putStream(source, limitBytes)),
    },
    failing: now.reason,
  }
}
