import { BlobsUnavailable, type BlobStore } from '../domain/ports/blobs.js'
import type { Log } from '../domain/ports/log.js'

export interface WatchedBlobs {
  readonly blobs: BlobStore
  /** Why the last large content was not kept; undefined once some is. */
  readonly failing: () => string | undefined
}

/** The same store, of which is known, and logged as it changes, whether it takes what is to be kept. */
export const watchedBlobs = (blobs: BlobStore, log: Pick<Log, 'error' | 'info'>): WatchedBlobs => {
  let failing: string | undefined
  const failed = (error: unknown) => {
    if (!(error instanceof BlobsUnavailable)) return
    if (failing === undefined) log.error('blobs.writes_failed', { error: error.message })
    failing = error.message
  }
  const succeeded = () => {
    if (failing !== undefined) log.info('blobs.writes_resumed', {})
    failing = undefined
  }
  const watched = <A>(kept: Promise<A>): Promise<A> => {
    kept.then(succeeded, failed)
    return kept
  }
  return {
    blobs: {
      ...blobs,
      put: (content) => watched(blobs.put(content)),
      putStream: (source, limitBytes) => watched(blobs.putStream(source, limitBytes)),
    },
    failing: () => failing,
  }
}
