import type { Database } from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import type { LastRevision } from '../expectation.js'

export interface Stream {
  readonly sid: number
  /** The writer moves it on with each event it inserts. */
  last: LastRevision
}

export interface StreamIndex {
  find(name: string): Stream | undefined
  /** Inside a transaction only. A new stream has no row in `events` yet, its last revision is -1. */
  findOrCreate(name: string): Stream
  /** After a transaction was rolled back nothing remembered can be trusted. */
  forget(): void
}

const REMEMBERED_STREAMS = 50_000

/** Finds streams by name. It may remember them because nobody else writes to the file. */
export const streamIndex = (db: Database): StreamIndex => {
  const insert = db.prepare<[string]>('INSERT INTO streams (name) VALUES (?) ON CONFLICT DO NOTHING')
  const select = db.prepare<[string], { sid: number; last: number }>(`
    SELECT sid, (SELECT max(revision) FROM events WHERE events.sid = streams.sid) AS last
    FROM streams WHERE name = ?
  `)
  const remembered = new LRUCache<string, Stream>({ max: REMEMBERED_STREAMS })

  const find = (name: string): Stream | undefined => {
    const known = remembered.get(name)
    if (known !== undefined) return known
    // SQLite would look for another name, with the lone surrogates replaced.
    const found = name.isWellFormed() ? select.get(name) : undefined
    if (found !== undefined) remembered.set(name, found)
    return found
  }

  return {
    find,
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
