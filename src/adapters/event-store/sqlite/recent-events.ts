import type { Position, RecordedEvent } from '../../../domain/ports/event-store.js'
import type { Page } from '../paged-reads.js'

/** Bounds of each of two halves; the older half goes when the newer is full. */
const MAX_EVENTS = 2048
const MAX_CHARACTERS = 4 * 1024 * 1024

/** The last events that were committed, so that who follows the log need not read and parse them again. */
export interface RecentEvents {
  add(event: RecordedEvent): void
  /** The events after a position; undefined where they go further back than what is kept. */
  page(after: Position, limit: number): Page | undefined
}

/** In this store positions follow one another without gaps. */
export const recentEvents = (): RecentEvents => {
  let events: RecordedEvent[] = []
  let characters = 0
  let older: RecordedEvent[] = []

  return {
    add: (event) => {
      events.push(event)
      characters += event.size
      if (events.length < MAX_EVENTS && characters < MAX_CHARACTERS) return
      older = events
      events = []
      characters = 0
    },
    page: (after, limit) => {
      const [first] = older.length > 0 ? older : events
      if (first === undefined || first.position > after + 1n) return undefined
      const from = Number(after + 1n - first.position)
      const page = older.slice(from, from + limit)
      const left = limit - page.length
      const start = Math.max(0, from - older.length)
      if (left > 0) page.push(...events.slice(start, start + left))
      return { events: page, atEnd: from + page.length >= older.length + events.length }
    },
  }
}
