import { BlobDamaged, type BlobStore } from '../kernel/ports/blobs.js'
import type { Position, RecordedEvent } from '../kernel/ports/event-store.js'
import type { LogSource } from '../kernel/ports/log-source.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { blobsNamedBy } from '../kernel/spill/named-blobs.js'

export interface Batch {
  readonly events: readonly RecordedEvent[]
  readonly characters: number
}

/** Where a log is copied to. */
export interface LogSink {
  /**
   * The position in the source of the last event that is already copied.
   *
   * @throws OperatorError when it contains another log
   */
  readonly resumeAfter: (source: LogSource, upTo: Position) => Promise<Position>
  /** Whether an event may be written together with a batch that is not empty. */
  readonly fits: (batch: Batch, event: RecordedEvent) => boolean
  /** In this order. A batch that fails is continued by the next copy. */
  readonly write: (events: readonly RecordedEvent[]) => Promise<void>
  /** Resolves once all that was written is on the disk. */
  readonly sync: () => Promise<void>
}

interface Copying {
  readonly source: LogSource
  readonly sink: LogSink
  readonly blobs: BlobStore
}

/**
 * Copies the events that the sink lacks, up to a position, and the blobs that they name. The blobs of a batch are copied
 * before its events, so an interrupted copy can be resumed. Returns the number of events.
 *
 * @throws OperatorError when the sink contains another log
 */
export const copyEvents = async (
  { source, sink, blobs }: Copying,
  upTo: Position,
  onProgress: (events: number, position: Position) => void,
): Promise<number> => {
  let copied = 0
  let events: RecordedEvent[] = []
  let characters = 0

  const flush = async () => {
    const last = events.at(-1)
    if (last === undefined) return
    await copyBlobs(source, blobs, events)
    await sink.write(events)
    copied += events.length
    events = []
    characters = 0
    onProgress(copied, last.position)
  }

  for await (const event of source.readAll(await sink.resumeAfter(source, upTo))) {
    if (event.position > upTo) break
    if (event.unreadable !== undefined)
      throw new OperatorError(
        `the event at position ${event.position} (stream ${event.stream}) cannot be copied: ${event.unreadable}; ` +
          'restore it from a backup or an earlier copy, see docs/auditing.md',
      )
    if (events.length > 0 && !sink.fits({ events, characters }, event)) await flush()
    events.push(event)
    characters += event.size
  }
  await flush()
  await sink.sync()
  return copied
}

/** A blob that the source lacks, or that is damaged there, is left out: `verify` reports it. */
const copyBlobs = async (
  source: Pick<LogSource, 'openBlob'>,
  blobs: BlobStore,
  events: readonly RecordedEvent[],
): Promise<void> => {
  for (const digest of new Set(events.flatMap(blobsNamedBy))) {
    if ((await blobs.open(digest).catch(undefinedWhenDamaged)) !== undefined) continue
    const blob = await source.openBlob(digest).catch(undefinedWhenDamaged)
    if (blob !== undefined)
      await blobs
        .putStream(blob.chunks, Number.MAX_SAFE_INTEGER, undefined, digest)
        .catch(undefinedWhenDamaged)
  }
}

const undefinedWhenDamaged = (error: unknown) => {
  if (error instanceof BlobDamaged) return undefined
  throw error
}
