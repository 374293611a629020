import { parseJson } from '../../../kernel/json/parse.js'
import type { Position, RecordedEvent } from '../../../kernel/ports/event-store.js'
import type { LogPage, Page } from '../paged-reads.js'
import type { SerialisedEvent } from '../serialise.js'

/** Bounds of each of two halves; the older half goes when the newer is full. */
const MAX_EVENTS = 2048
const MAX_CHARACTERS = 4 * 1024 * 1024

/** The last events that were committed, so that who reads what was just written need not ask the database. */
export interface RecentEvents {
  add(event: RecordedEvent, written: SerialisedEvent): void
  /** The events after a position, as they were given; undefined where they go further back than what is kept. */
  page(after: Position, limit: number, types?: ReadonlySet<string>): LogPage | undefined
  /** The events of a stream from a revision on, as they were written; undefined where they go further back, or nothing of it is kept. */
  ofStream(stream: string, from: bigint, limit: number): Page | undefined
  forget(): void
}

interface Recent {
  readonly event: RecordedEvent
  readonly written: SerialisedEvent
}

interface Half {
  readonly events: RecordedEvent[]
  readonly ofStreams: Map<string, Recent[]>
  characters: number
}

const emptyHalf = (): Half => ({ events: [], ofStreams: new Map(), characters: 0 })

/** In this store positions follow one another without gaps. */
export const recentEvents = (): RecentEvents => {
  let newer = emptyHalf()
  let older = emptyHalf()

  return {
    add: (event, written) => {
      newer.events.push(event)
      newer.characters += event.size
      const ofStream = newer.ofStreams.get(event.stream)
      if (ofStream === undefined) newer.ofStreams.set(event.stream, [{ event, written }])
      else ofStream.push({ event, written })
      if (newer.events.length < MAX_EVENTS && newer.characters < MAX_CHARACTERS) return
      older = newer
      newer = emptyHalf()
    },
    page: (after, limit, types) => {
      const first = older.events[0] ?? newer.events[0]
      if (first === undefined || first.position > after + 1n) return undefined
      const page = pageOf(older.events, newer.events, Number(after + 1n - first.position), limit)
      const last = page.events.at(-1)?.position
      if (types === undefined) return { ...page, last }
      return { ...page, events: page.events.filter(({ type }) => types.has(type)), last }
    },
    ofStream: (stream, from, limit) => {
      const before = older.ofStreams.get(stream) ?? NONE
      const last = newer.ofStreams.get(stream) ?? NONE
      const first = before[0] ?? last[0]
      if (first === undefined || first.event.revision > from) return undefined
      const { events, atEnd } = pageOf(before, last, Number(from - first.event.revision), limit)
      return { events: events.map(asWritten), atEnd }
    },
    forget: () => {
      newer = emptyHalf()
      older = emptyHalf()
    },
  }
}

const NONE: readonly Recent[] = []

/** Whoever reads a stream may keep and change what it gets. */
const asWritten = ({ event, written }: Recent): RecordedEvent => ({
  ...event,
  data: parseJson(written.data) as RecordedEvent['data'],
  metadata: JSON.parse(written.metadata) as RecordedEvent['metadata'],
})

/** Of two lists, the one behind the other, as many as `limit` from the place `from` on. */
const pageOf = <A>(before: readonly A[], behind: readonly A[], from: number, limit: number) => {
  const events = before.slice(from, from + limit)
  const left = limit - events.length
  const start = Math.max(0, from - before.length)
  if (left > 0) events.push(...behind.slice(start, start + left))
  return { events, atEnd: from + events.length >= before.length + behind.length }
}
