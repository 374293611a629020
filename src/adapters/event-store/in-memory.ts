import { announceErased } from '../../kernel/erased-streams.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonText } from '../../kernel/json/text.js'
import type { Appended, EventStore, Expected, RecordedEvent } from '../../kernel/ports/event-store.js'
import { StoreUnavailable } from '../../kernel/ports/event-store-errors.js'
import { commitSignal } from './commit-signal.js'
import { conflict, firstRevisionOf, isMet } from './expectation.js'
import { pagedReads, type Page } from './paged-reads.js'
import { serialise, type SerialisedEvent } from './serialise.js'

interface Stored extends SerialisedEvent {
  data: string
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly recordedAt: number
}

// Positions leave gaps on purpose, so that nobody who counts with them passes a test.
const GAP = 7

/**
 * The contract of the log without a disk, for tests, which may give it a clock (milliseconds since 1970). Events are kept as
 * JSON: nobody can change them afterwards.
 */
export const openInMemoryEventStore = (now: () => number = Date.now): EventStore => {
  const log: Stored[] = []
  const streams = new Map<string, Stored[]>()
  const commits = commitSignal()

  const ofStream = (name: string): readonly Stored[] => streams.get(name) ?? []

  const requireOpen = () => {
    if (commits.isClosed()) throw new StoreUnavailable('the event store is closed')
  }

  const insertAll = (name: string, events: readonly SerialisedEvent[]): Appended => {
    const stream = streams.get(name) ?? []
    streams.set(name, stream)
    const recordedAt = now()
    for (const event of events) {
      const place = { stream: name, revision: stream.length, position: (log.length + 1) * GAP }
      const stored = { ...event, ...place, recordedAt }
      stream.push(stored)
      log.push(stored)
    }
    commits.announce()
    return { revision: BigInt(stream.length - 1), position: BigInt(log.length * GAP) }
  }

  const repeatOf = (name: string, expected: Expected, events: readonly SerialisedEvent[]) => {
    const stream = ofStream(name)
    const first = firstRevisionOf(expected)
    const places = events.map((_, index) => stream[first + index])
    const last = places.at(-1)
    const isRepeat = events.every(({ id }, index) => places[index]?.id === id)
    return isRepeat && last && { revision: BigInt(last.revision), position: BigInt(last.position) }
  }

  const hasOneOf = (name: string, events: readonly SerialisedEvent[]) =>
    ofStream(name).some((stored) => events.some(({ id }) => id === stored.id))

  const page = (events: readonly Stored[], limit: number): Page => ({
    events: events.slice(0, limit).map(toEvent),
    atEnd: events.length < limit,
  })

  const store: EventStore = {
    append: async (name, expected, newEvents) => {
      requireOpen()
      const { events } = serialise(name, newEvents)
      const last = ofStream(name).length - 1
      if (isMet(expected, last) && !hasOneOf(name, events)) return insertAll(name, events)
      const repeat = repeatOf(name, expected, events)
      if (!repeat) throw conflict(name, expected, last)
      return repeat
    },
    ...pagedReads(
      {
        ofLog: (after, limit, types) => {
          requireOpen()
          const start = Math.max(Math.floor(Number(after) / GAP), 0)
          const stored = log.slice(start, start + limit)
          const last = stored.at(-1)
          return {
            events: stored.filter(({ type }) => types?.has(type) ?? true).map(toEvent),
            atEnd: stored.length < limit,
            last: last && BigInt(last.position),
          }
        },
        backwards: (before, limit, types) => {
          requireOpen()
          const end = before === undefined ? log.length : Math.ceil(Number(before) / GAP) - 1
          const stored = log.slice(Math.max(0, end - limit), Math.max(0, end)).reverse()
          const last = stored.at(-1)
          return {
            events: stored.filter(({ type }) => types?.has(type) ?? true).map(toEvent),
            atEnd: stored.length < limit,
            last: last && BigInt(last.position),
          }
        },
        ofStream: (name, { from, backwards }, limit) => {
          requireOpen()
          const events = ofStream(name)
          return page(
            backwards
              ? events.slice(0, Math.max(Number(from ?? events.length) + 1, 0)).reverse()
              : events.slice(Math.max(Number(from ?? 0n), 0)),
            limit,
          )
        },
      },
      commits,
    ),
    findEvent: async (id) => {
      requireOpen()
      const found = log.find((stored) => stored.id === id)
      return found && toEvent(found)
    },
    erase: async (erasures) => {
      const erased = { events: 0, bytes: 0 }
      for await (const { position, data } of erasures) {
        requireOpen()
        const stored = log[Number(position) / GAP - 1]
        if (stored === undefined) throw new Error(`the log has no event at position ${position}`)
        const left = jsonText(data)
        if (stored.data === left) continue
        erased.events += 1
        erased.bytes += Buffer.byteLength(stored.data) - Buffer.byteLength(left)
        stored.data = left
        announceErased(store, new Set([stored.stream]))
      }
      return erased
    },
    checkWritable: async () => requireOpen(),
    head: async () => {
      requireOpen()
      return BigInt(log.length * GAP)
    },
    close: async () => commits.close(),
  }
  return store
}

const toEvent = ({
  data,
  metadata,
  revision,
  position,
  recordedAt,
  seal: _,
  ...event
}: Stored): RecordedEvent => ({
  ...event,
  data: parseJson(data) as RecordedEvent['data'],
  metadata: JSON.parse(metadata) as RecordedEvent['metadata'],
  revision: BigInt(revision),
  position: BigInt(position),
  recordedAt: new Date(recordedAt),
  size: data.length + metadata.length,
})
