import type { LogCopy, RepeatedEvent } from '../adapters/event-store/sqlite/log-copy.js'
import type { Appended, EventStore, Position, RecordedEvent } from '../kernel/ports/event-store.js'
import { ConcurrencyConflict } from '../kernel/ports/event-store-errors.js'
import type { LogSource } from '../kernel/ports/log-source.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import type { LogSink } from './copy-events.js'
import { assertSameLog } from './same-log.js'

const FILE_BATCH = { events: 2000, characters: 8 * 1024 * 1024 }

/** A file on which a service can be started. Events keep their positions and times. */
export const fileSink = (copy: LogCopy, onRepeated: (repeated: RepeatedEvent) => void): LogSink => ({
  resumeAfter: async (source) => {
    const last = copy.last()
    if (last === undefined) return 0n
    await assertSameLog(source, last)
    return BigInt(last.position)
  },
  fits: ({ events, characters }, event) =>
    events.length < FILE_BATCH.events && characters + event.size <= FILE_BATCH.characters,
  write: async (events) => copy.write(events).forEach(onRepeated),
  sync: () => copy.sync(),
})

/** A store must accept an append of 1 MiB; an event that it may refuse as too large is appended alone. */
const STORE_BATCH = { events: 128, characters: 1024 * 1024 }

/**
 * Another event store. Ids, streams, revisions and the order stay; positions and times are the store's own. Increasing
 * positions prove the order.
 */
export const storeSink = (store: EventStore): LogSink => {
  let last: Position = 0n
  const advance = ({ stream, revision }: RecordedEvent, position: Position | undefined) => {
    if (position === undefined || position <= last) throw outOfOrder(stream, revision)
    last = position
  }

  return {
    resumeAfter: async (source, upTo) => {
      const copied = await lastCopied(source, store, upTo)
      for (const event of await lastEvents(source, copied))
        advance(event, (await storedEvent(store, event))?.position)
      if (copied < upTo)
        for await (const { stream, revision } of store.readAll({ after: last, limit: 1 }))
          throw outOfOrder(stream, revision)
      return copied
    },
    fits: ({ events, characters }, event) =>
      events.length < STORE_BATCH.events && characters + event.size <= STORE_BATCH.characters,
    write: async (events) => {
      const appends = events.map(appendOf)
      const appended = await store.appendInOrder?.(appends)
      for (const [index, event] of events.entries())
        advance(event, appended?.[index]?.position ?? (await positionOf(store.append(...appends[index]!))))
    },
    sync: () => Promise.resolve(),
  }
}

const outOfOrder = (stream: string, revision: bigint) =>
  new OperatorError(
    `the store has event ${revision} of stream ${stream} in another place than the source: it contains events of ` +
      'another log, or lost their order; copy into an empty store',
  )

const appendOf = (event: RecordedEvent): Parameters<EventStore['append']> => [
  event.stream,
  event.revision === 0n ? 'none' : event.revision - 1n,
  [event],
]

const positionOf = async (appending: Promise<Appended>): Promise<Position | undefined> => {
  try {
    return (await appending).position
  } catch (error) {
    if (!(error instanceof ConcurrencyConflict)) throw error
    throw new OperatorError(
      `the store contains another log, or another program is writing to it: ${error.message}`,
      { cause: error },
    )
  }
}

/** Finds the first position whose next event is missing, by a binary search. */
const lastCopied = async (source: LogSource, store: EventStore, upTo: Position): Promise<Position> => {
  let [copied, missing] = [0n, upTo]
  while (copied < missing) {
    const middle = (copied + missing) / 2n
    if (await hasEventAfter(source, store, middle)) copied = middle + 1n
    else missing = middle
  }
  return copied
}

/** At least as many as are under way together: of these, an interrupted copy may lack one that a later one follows. */
const lastEvents = async (source: LogSource, upTo: Position): Promise<readonly RecordedEvent[]> => {
  for (let back = BigInt(STORE_BATCH.events); ; back *= 2n) {
    const after = back < upTo ? upTo - back : 0n
    const events: RecordedEvent[] = []
    for await (const event of source.readAll(after)) {
      if (event.position > upTo) break
      events.push(event)
    }
    if (events.length >= STORE_BATCH.events || after === 0n) return events
  }
}

const storedEvent = async (store: EventStore, { stream, revision }: RecordedEvent) => {
  for await (const event of store.readStream(stream, { from: revision, limit: 1 })) return event
  return undefined
}

/** Whether the store has the first event after a position of the source. */
const hasEventAfter = async (source: LogSource, store: EventStore, after: Position): Promise<boolean> => {
  for await (const event of source.readAll(after)) return (await storedEvent(store, event))?.id === event.id
  return false
}
