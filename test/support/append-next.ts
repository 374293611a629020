import type { Appended, EventStore, Expected, NewEvent } from '../../src/kernel/ports/event-store.js'
import { ConcurrencyConflict } from '../../src/kernel/ports/event-store-errors.js'

/** Appends after the last event of a stream, whatever that is by then. */
export const appendNext = async (
  store: Pick<EventStore, 'append' | 'readStream'>,
  stream: string,
  events: readonly NewEvent[],
): Promise<Appended> => {
  for (;;) {
    let expected: Expected = 'none'
    for await (const { revision } of store.readStream(stream, { backwards: true, limit: 1 }))
      expected = revision
    try {
      return await store.append(stream, expected, events)
    } catch (error) {
      if (!(error instanceof ConcurrencyConflict)) throw error
    }
  }
}

/** What a writer expects of a stream of so many events. */
export const afterEvents = (count: number): Expected => (count === 0 ? 'none' : BigInt(count - 1))
