import type { BlobStore } from '../domain/ports/blobs.js'
import type { RecordedEvent } from '../domain/ports/event-store.js'
import type { LogSource } from '../domain/ports/log-source.js'
import { blobsNamedBy } from '../domain/spill/named-blobs.js'

/** Copies what events name and is not there yet. */
export const copyBlobs = async (
  source: Pick<LogSource, 'openBlob'>,
  blobs: BlobStore,
  events: readonly RecordedEvent[],
): Promise<void> => {
  for (const digest of new Set(events.flatMap(blobsNamedBy))) {
    if ((await blobs.open(digest)) !== undefined) continue
    const blob = await source.openBlob(digest)
    // The copy shows what the source has: that a blob is missing there is for the verification to tell.
    if (blob === undefined) continue
    await blobs.putStream(blob.chunks, Number.MAX_SAFE_INTEGER)
  }
}
