import { jsonText } from '../../../domain/json/text.js'
import type { RecordedEvent } from '../../../domain/ports/event-store.js'
import { openDatabase } from './open-database.js'
import { streamIndex } from './stream-index.js'

/** An event as the file has it, its data and metadata as text that nobody has looked at yet. */
export interface WrittenEvent {
  readonly position: number
  /** The stream's number in this file, from 1 on. */
  readonly sid: number
  readonly stream: string
  readonly revision: number
  readonly id: string
  readonly type: string
  readonly data: string
  readonly metadata: string
  /** Milliseconds since 1970. */
  readonly recordedAt: number
}

/** A log whose events stand where another log has them: a file that an event store can be opened on. */
export interface LogCopy {
  last(): WrittenEvent | undefined
  /** Adds events that come after the last one, all or none, with their positions, revisions and times. */
  write(events: readonly RecordedEvent[]): void
  /** The events after a position, in log order, at most `limit`. */
  page(after: number, limit: number): readonly WrittenEvent[]
  /** Resolves once all that was written is on the disk. */
  sync(): Promise<void>
  close(): void
}

/** @throws StoreUnavailable when another process has the file open */
export const openLogCopy = (path: string): LogCopy => {
  const { db, sync, close } = openDatabase(path)
  const streams = streamIndex(db)
  const insert = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  const select = (condition: string) =>
    db.prepare<[number, number], WrittenEvent>(
      `SELECT position, sid, name AS stream, revision, id, type, data, metadata, recorded_at AS recordedAt
       FROM events CROSS JOIN streams USING (sid) WHERE position > ? ${condition} LIMIT ?`,
    )
  const forwards = select('ORDER BY position')
  const backwards = select('ORDER BY position DESC')

  return {
    last: () => backwards.get(-1, 1),
    write: (events) => {
      try {
        db.transaction(() => {
          for (const { id, type, data, metadata, stream, revision, position, recordedAt } of events) {
            const { sid } = streams.findOrCreate(stream)
            const texts = [id, type, jsonText(data), JSON.stringify(metadata)]
            insert.run(position, sid, revision, ...texts, recordedAt.getTime())
          }
        }).immediate()
      } catch (error) {
        streams.forget()
        throw error
      }
    },
    page: (after, limit) => forwards.all(after, limit),
    sync,
    close,
  }
}
