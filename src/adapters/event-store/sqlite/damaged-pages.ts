import Database from 'better-sqlite3'
import { IS_INDEXED_TYPE } from './schema.js'

/** Whether SQLite found a damaged page. */
export const isCorrupt = (error: unknown): boolean =>
  error instanceof Database.SqliteError && error.code.startsWith('SQLITE_CORRUPT')

/** Indexes of `events`. */
const BY_STREAM = 'sqlite_autoindex_events_1'
export const BY_TYPE = 'events_by_type'

export const DAMAGED_PAGE = 'its page of events.db is damaged'

/** What the indexes contain of an event. 0 or empty where they do not have it. */
export interface IndexedPlace {
  readonly position: number
  readonly sid: number
  readonly stream: string
  readonly revision: number
  readonly type: string
}

/** Finds events through the indexes alone, for when a page of the table is damaged. */
export const eventPlaces = (db: Database.Database) => {
  const nameOf = db.prepare<[number], string>('SELECT name FROM streams WHERE sid = ?').pluck()
  const typeAt = db
    .prepare<[number, number], [number, string]>(
      `SELECT position, type FROM events INDEXED BY ${BY_TYPE} WHERE ${IS_INDEXED_TYPE} AND position BETWEEN ? AND ?`,
    )
    .raw()
  const first = db.prepare<[], number>(`SELECT min(position) FROM events INDEXED BY ${BY_STREAM}`).pluck()
  const inLog = db
    .prepare<[number, number, number], [number, number, number]>(
      `SELECT position, sid, revision FROM events INDEXED BY ${BY_STREAM}
       WHERE position > ? AND position <= ? ORDER BY position LIMIT ?`,
    )
    .raw()
  let isContiguous: boolean | undefined

  const named = (rows: readonly (readonly [position: number, sid: number, revision: number])[]) => {
    const positions = rows.map(([position]) => position)
    const types = new Map(orElse([], () => typeAt.all(Math.min(...positions), Math.max(...positions))))
    return rows.map(([position, sid, revision]): IndexedPlace => {
      const stream = orElse(undefined, () => nameOf.get(sid)) ?? ''
      return { position, sid, stream, revision, type: types.get(position) ?? '' }
    })
  }

  /** A log that began in this file has every position from 1. A copy of an EventStoreDB's log has gaps. */
  const hasEachPosition = () => (isContiguous ??= orElse(1, () => first.get()) === 1)

  return {
    hasEachPosition,
    inLog: (after: number, upTo: number, limit: number): readonly IndexedPlace[] => {
      if (!hasEachPosition()) return named(inLog.all(after, upTo, limit))
      const end = Math.min(after + limit, upTo)
      const found = named(orElse([], () => inLog.all(after, end, limit)))
      const byPosition = new Map(found.map((place) => [place.position, place]))
      return Array.from({ length: Math.max(0, end - after) }, (_, index) => {
        const position = after + 1 + index
        return byPosition.get(position) ?? { position, sid: 0, stream: '', revision: 0, type: '' }
      })
    },
    /** Finds events by a condition on the columns of the index by stream. */
    where: (condition: string, order: string) => {
      const statement = db
        .prepare<(string | number)[], [number, number, number]>(
          `SELECT position, sid, revision FROM events INDEXED BY ${BY_STREAM}
           WHERE ${condition} AND position <= ? ORDER BY ${order} LIMIT ?`,
        )
        .raw()
      return (...parameters: readonly (string | number)[]) => named(statement.all(...parameters))
    },
  }
}

/** `instead` if a page is damaged. Other errors are thrown. */
export const orElse = <A>(instead: A, read: () => A): A => {
  try {
    return read()
  } catch (error) {
    if (!isCorrupt(error)) throw error
    return instead
  }
}
