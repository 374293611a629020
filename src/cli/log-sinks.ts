import type { LogCopy, RepeatedEvent } from '../adapters/event-store/sqlite/log-copy.js'
import type { EventStore, Position } from '../kernel/ports/event-store.js'
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

/** A store must accept an append of 1 MiB. */
const APPEND_CHARACTERS = 256 * 1024

/** Another event store. Ids, streams, revisions and the order stay; positions and times are the store's own. */
export const storeSink = (store: EventStore): LogSink => ({
  resumeAfter: (source, upTo) => lastCopied(source, store, upTo),
  // A log of an earlier release may have an id twice in a stream. One append may not.
  fits: ({ events, characters }, event) =>
    events[0]?.stream === event.stream &&
    characters + event.size <= APPEND_CHARACTERS &&
    !events.some(({ id }) => id === event.id),
  write: async (events) => {
    const { stream, revision } = events[0]!
    try {
      await store.append(stream, revision === 0n ? 'none' : revision - 1n, events)
    } catch (error) {
      if (!(error instanceof ConcurrencyConflict)) throw error
      throw new OperatorError(
        `the store contains another log, or another program is writing to it: ${error.message}`,
        { cause: error },
      )
    }
  },
  sync: () => Promise.resolve(),
})

/** Events are appended in order, so a binary search finds the first position whose next event is missing. */
const lastCopied = async (source: LogSource, store: EventStore, upTo: Position): Promise<Position> => {
  if ((await store.head()) === 0n) return 0n
  if (!(await hasEventAfter(source, store, 0n)))
    throw new OperatorError('the store already contains events of another log')
  let [copied, missing] = [0n, upTo]
  while (copied < missing) {
    const middle = (copied + missing) / 2n
    if (await hasEventAfter(source, store, middle)) copied = middle + 1n
    else missing = middle
  }
  return copied
}

/** Whether the store has the first event after a position of the source. */
const hasEventAfter = async (source: LogSource, store: EventStore, after: Position): Promise<boolean> => {
  for await (const { stream, revision, id } of source.readAll(after)) {
    for await (const event of store.readStream(stream, { from: revision, limit: 1 })) return event.id === id
    return false
  }
  return false
}
