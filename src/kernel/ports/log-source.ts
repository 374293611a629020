import type { OpenedBlob } from './blobs.js'
import type { Position, RecordedEvent } from './event-store.js'

/** The source of a log copy: an event store or a running service. */
export interface LogSource {
  /** The position of the last event, 0 for an empty log. */
  head(): Promise<Position>
  /** In log order, exclusive of `after`. */
  readAll(after: Position): AsyncIterable<RecordedEvent>
  /** The event of this log with the same stream, revision and position; undefined if there is none. */
  eventAt(place: Pick<RecordedEvent, 'stream' | 'revision' | 'position'>): Promise<RecordedEvent | undefined>
  openBlob(digest: string): Promise<OpenedBlob | undefined>
  close(): Promise<void>
}
