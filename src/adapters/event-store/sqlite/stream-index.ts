import type { Database } from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import { StoreUnavailable, StreamUnreadable } from '../../../kernel/ports/event-store-errors.js'
import { noHealthReports } from '../../../kernel/ports/health.js'
import type { LastRevision } from '../expectation.js'
import { isCorrupt } from './damaged-pages.js'

export interface Stream {
  readonly sid: number
  /** The writer moves it on with each event it inserts. */
  last: LastRevision
}

/** Reads throw StreamUnreadable if a page that the stream needs is damaged. */
export interface StreamIndex {
  find(name: string): Stream | undefined
  /** Inside a transaction only. A new stream has no row in `events` yet, its last revision is -1. */
  findOrCreate(name: string): Stream
  /** Runs another read of the stream. */
  whileReading<A>(name: string, read: () => A): A
  /** After a transaction was rolled back nothing remembered can be trusted. */
  forget(): void
}

const REMEMBERED_STREAMS = 50_000

/** Finds streams by name. It may remember them because nobody else writes to the file. */
export const streamIndex = (db: Database, health = noHealthReports): StreamIndex => {
  const insert = db.prepare<[string]>('INSERT INTO streams (name) VALUES (?) ON CONFLICT DO NOTHING')
  const select = db.prepare<[string], { sid: number; last: number }>(`
    SELECT sid, (SELECT max(revision) FROM events WHERE events.sid = streams.sid) AS last
    FROM streams WHERE name = ?
  `)
  const remembered = new LRUCache<string, Stream>({ max: REMEMBERED_STREAMS })

  const whileReading: StreamIndex['whileReading'] = (name, read) => {
    try {
      return read()
    } catch (cause) {
      if (!isCorrupt(cause)) throw cause
      const error = new StreamUnreadable(name, 'an index of events.db is damaged, see docs/auditing.md')
      health.report('event-log-reads', new StoreUnavailable(error.message, { cause }))
      throw error
    }
  }

  const find = (name: string): Stream | undefined => {
    const known = remembered.get(name)
    if (known !== undefined) return known
    // SQLite would look for another name, with the lone surrogates replaced.
    const found = name.isWellFormed() ? whileReading(name, () => select.get(name)) : undefined
    if (found !== undefined) remembered.set(name, found)
    return found
  }

  return {
    find,
    whileReading,
    findOrCreate: (name) => {
      const known = remembered.get(name)
      if (known !== undefined) return known
      const { changes, lastInsertRowid } = insert.run(name)
      const created = changes === 1 ? { sid: Number(lastInsertRowid), last: -1 } : undefined
      if (created !== undefined) remembered.set(name, created)
      const stream = created ?? find(name)
      if (stream === undefined) throw new Error(`stream ${name} was neither inserted nor found`)
      return stream
    },
    forget: () => remembered.clear(),
  }
}
