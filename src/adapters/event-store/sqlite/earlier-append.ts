import type { Database } from 'better-sqlite3'
import type { Appended, Expected } from '../../../kernel/ports/event-store.js'
import { firstRevisionOf } from '../expectation.js'
import type { SerialisedEvent } from '../serialise.js'
import type { Stream } from './stream-index.js'

interface Place {
  readonly id: string
  readonly revision: number
  readonly position: number
}

/** Recognises the repeat of an append: the place of its last event when all its events are there already. */
export type EarlierAppend = (
  stream: Stream,
  expected: Expected,
  events: readonly SerialisedEvent[],
) => Appended | undefined

export const earlierAppend = (db: Database): EarlierAppend => {
  const from = db.prepare<[number, number, number], Place>(
    'SELECT id, revision, position FROM events WHERE sid = ? AND revision >= ? ORDER BY revision LIMIT ?',
  )

  return ({ sid }, expected, events) => {
    const places = from.all(sid, firstRevisionOf(expected), events.length)
    const last = places[events.length - 1]
    if (last === undefined || !events.every(({ id }, index) => places[index]?.id === id)) return undefined
    return { revision: BigInt(last.revision), position: BigInt(last.position) }
  }
}
