import type { OpenedBlob } from './blobs.js'
import type { Position, RecordedEvent } from './event-store.js'

/** Where a log is copied from: the reading half of a store, or a running service. */
export interface LogSource {
  /** The position of the last event, 0 for an empty log. */
  head(): Promise<Position>
  /** In log order, exclusive of `after`. */
  readAll(after: Position): AsyncIterable<RecordedEvent>
  /** The event that stands where another log has this one; undefined if there is none. */
  eventAt(place: Pick<RecordedEvent, 'stream' | 'revision' | 'position'>): Promise<RecordedEvent | undefined>
  openBlob(digest: string): Promise<OpenedBlob | undefined>
  close(): Promise<void>
}
