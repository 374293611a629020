import Database from 'better-sqlite3'
import type { Appended, Expected } from '../../../kernel/ports/event-store.js'
import { ConcurrencyConflict, StreamUnreadable } from '../../../kernel/ports/event-store-errors.js'
import { conflict, isMet, firstRevisionOf } from '../expectation.js'
import type { SerialisedEvent } from '../serialise.js'
import { rowSeal } from './row-seal.js'
import type { Stream, StreamIndex } from './stream-index.js'

export interface Append {
  readonly stream: string
  readonly expected: Expected
  readonly events: readonly SerialisedEvent[]
}

/** Writes one append inside a running transaction: whole, or not at all and answers why. */
export interface AppendWriter {
  write(append: Append, recordedAt: number): Appended | ConcurrencyConflict | StreamUnreadable
  /** The position of the last event written. */
  head(): number
  /** To be called after a rollback, with the head at the transaction's begin. */
  rewind(head: number): void
}

export const appendWriter = (db: Database.Database, streams: StreamIndex): AppendWriter => {
  const insert = db.prepare<[number, number, number, string, string, string, string, number, Buffer]>(
    'INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const deleteAfter = db.prepare<[number]>('DELETE FROM events WHERE position > ?')
  const findEarlier = earlierAppend(db)
  let head = db.prepare<[], number>('SELECT coalesce(max(position), 0) FROM events').pluck().get() ?? 0

  /** False when the stream has one of the ids already. */
  const insertAll = (stream: Stream, { stream: name, events }: Append, recordedAt: number): boolean => {
    const before = head
    let revision = stream.last
    try {
      for (const event of events) {
        const { id, type, data, metadata } = event
        const place = { position: head + 1, stream: name, revision: revision + 1, id, type, recordedAt }
        const seal = rowSeal(place, event, event.seal)
        insert.run(head + 1, stream.sid, revision + 1, id, type, data, metadata, recordedAt, seal)
        head += 1
        revision += 1
      }
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      deleteAfter.run(before)
      head = before
      return false
    }
    stream.last = revision
    return true
  }

  const write: AppendWriter['write'] = (append, recordedAt) => {
    const { stream: name, expected, events } = append
    const stream = expected === 'none' ? streams.findOrCreate(name) : streams.find(name)
    if (stream === undefined) return conflict(name, expected, -1)
    if (isMet(expected, stream.last) && insertAll(stream, append, recordedAt))
      return { revision: BigInt(stream.last), position: BigInt(head) }
    const earlier = streams.whileReading(name, () => findEarlier(stream, expected, events))
    return earlier ?? conflict(name, expected, stream.last)
  }

  return {
    write: (append, recordedAt) => {
      try {
        return write(append, recordedAt)
      } catch (error) {
        // Other appends of the transaction do not fail with it.
        if (error instanceof StreamUnreadable) return error
        throw error
      }
    },
    head: () => head,
    rewind: (to) => {
      head = to
      streams.forget()
    },
  }
}

const isUniqueViolation = (error: unknown) =>
  error instanceof Database.SqliteError && error.code === 'SQLITE_CONSTRAINT_UNIQUE'

interface Place {
  readonly id: string
  readonly revision: number
  readonly position: number
}

/** Recognises the repeat of an append: the place of its last event when all its events are there already. */
const earlierAppend = (db: Database.Database) => {
  const from = db.prepare<[number, number, number], Place>(
    'SELECT id, revision, position FROM events WHERE sid = ? AND revision >= ? ORDER BY revision LIMIT ?',
  )
  return ({ sid }: Stream, expected: Expected, events: readonly SerialisedEvent[]): Appended | undefined => {
    const places = from.all(sid, firstRevisionOf(expected), events.length)
    const last = places[events.length - 1]
    if (last === undefined || !events.every(({ id }, index) => places[index]?.id === id)) return undefined
    return { revision: BigInt(last.revision), position: BigInt(last.position) }
  }
}
