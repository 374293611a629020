import { v5 } from 'uuid'
import { jsonText } from '../../../kernel/json/text.js'
import type { RecordedEvent } from '../../../kernel/ports/event-store.js'
import { eventPlaces, orElse } from './damaged-pages.js'
import { eventTexts } from './event-texts.js'
import { openDatabase } from './open-database.js'
import { rowSeal, SEAL_TEXT } from './row-seal.js'
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
  /** Data and metadata are empty if their pack or their page is damaged. */
  readonly data: string
  readonly metadata: string
  /** Milliseconds since 1970. */
  readonly recordedAt: number
  /** In hexadecimal; empty for none. */
  readonly seal: string
}

/** An event whose id an earlier event of its stream has, so that it was copied under another. */
export interface RepeatedEvent {
  readonly position: number
  readonly stream: string
  readonly id: string
  readonly copiedAs: string
}

/** The id under which a repeated event is copied: the same each time. */
export const idOfRepeat = ({
  id,
  stream,
  revision,
}: Pick<RecordedEvent, 'id' | 'stream' | 'revision'>): string =>
  v5(JSON.stringify([id, stream, String(revision)]), v5.URL)

/** A log whose events stand where another log has them: a file that an event store can be opened on. */
export interface LogCopy {
  last(): WrittenEvent | undefined
  /**
   * Adds events that come after the last one, all or none, with their positions, revisions and times. Logs of earlier
   * releases in an EventStoreDB may have an id twice in a stream, which this file cannot: answers those.
   */
  write(events: readonly RecordedEvent[]): readonly RepeatedEvent[]
  /** The events after a position, in log order, at most `limit`. */
  page(after: number, limit: number): readonly WrittenEvent[]
  /** The events of a stream, by revision. */
  stream(name: string): Iterable<WrittenEvent>
  /** Resolves once all that was written is on the disk. */
  sync(): Promise<void>
  close(): void
}

/** @throws StoreUnavailable when another process has the file open */
export const openLogCopy = (path: string): LogCopy => {
  const { db, sync, close } = openDatabase(path)
  const streams = streamIndex(db)
  const insert = db.prepare(
    'INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id, sid) DO NOTHING',
  )
  const COLUMNS =
    'position, sid, name AS stream, revision, id, type, data, metadata, recorded_at AS recordedAt, ' +
    `${SEAL_TEXT} AS seal`
  const select = (condition: string) =>
    db.prepare<[number, number], WrittenEvent>(
      `SELECT ${COLUMNS} FROM events CROSS JOIN streams USING (sid) WHERE position > ? ${condition} LIMIT ?`,
    )
  const ofStream = db.prepare<[string], WrittenEvent>(
    `SELECT ${COLUMNS} FROM streams CROSS JOIN events USING (sid) WHERE name = ? ORDER BY revision`,
  )
  const forwards = select('ORDER BY position')
  const backwards = select('ORDER BY position DESC')
  const texts = eventTexts(db).read
  const withTexts = (event: WrittenEvent): WrittenEvent => ({
    ...event,
    ...texts(event.position, event.data, event.metadata),
  })

  const places = eventPlaces(db)
  const last = () => backwards.get(-1, 1)

  return {
    last,
    write: (events) => {
      const repeated: RepeatedEvent[] = []
      try {
        db.transaction(() => {
          for (const event of events) {
            const { id, type, stream } = event
            const { sid } = streams.findOrCreate(stream)
            const texts = { data: jsonText(event.data), metadata: JSON.stringify(event.metadata) }
            const [position, revision] = [Number(event.position), Number(event.revision)]
            const recordedAt = event.recordedAt.getTime()
            const insertAs = (as: string) => {
              const seal = rowSeal(
                { position, stream, revision, id: as, type, recordedAt },
                texts,
                event.seal,
              )
              const { data, metadata } = texts
              const row = [position, sid, revision, as, type, data, metadata, recordedAt, seal]
              return insert.run(...row).changes === 1
            }
            if (insertAs(id)) continue
            const copiedAs = idOfRepeat(event)
            if (!insertAs(copiedAs)) throw new Error(`event ${id} of stream ${stream} already exists`)
            repeated.push({ position, stream, id, copiedAs })
          }
        }).immediate()
        return repeated
      } catch (error) {
        streams.forget()
        throw error
      }
    },
    page: (after, limit) => {
      const end = last()?.position ?? 0
      const rows = orElse(undefined, () => forwards.all(after, limit))
      if (rows?.length === limit || (rows !== undefined && (rows.at(-1)?.position ?? after) >= end))
        return rows.map(withTexts)
      return places.inLog(Math.max(after, 0), end, limit).map((place) => {
        const found = orElse(undefined, () => forwards.get(place.position - 1, 1))
        return found?.position === place.position ? withTexts(found) : { ...place, ...NO_TEXTS }
      })
    },
    stream: (name) => ofStream.all(name).map(withTexts),
    sync,
    close,
  }
}

/** What a damaged page had. */
const NO_TEXTS = { id: '', data: '', metadata: '', recordedAt: 0, seal: '' }
