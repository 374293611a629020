import { randomInt, randomUUID } from 'node:crypto'
import type { EventStore, NewEvent } from '../../../src/kernel/ports/event-store.js'
import { afterEvents } from '../../support/append-next.js'

export const arbitraryStream = (): string => `call-team/project/${randomUUID()}`

export const arbitraryEvent = (overrides: Partial<NewEvent> = {}): NewEvent => ({
  id: randomUUID(),
  type: 'CallStarted',
  data: { number: randomInt(1_000_000) },
  metadata: {
    correlationId: randomUUID(),
    causationId: randomUUID(),
    actor: `user-${randomInt(100)}`,
    schemaVersion: 1,
  },
  ...overrides,
})

export const arbitraryEvents = (count: number): readonly NewEvent[] =>
  Array.from({ length: count }, () => arbitraryEvent())

const AT_ONCE = 20

/** An append for each event, in their order, and never so many at once that the last of them waits long for its turn. */
export const appendEach = async (
  events: readonly NewEvent[],
  append: (event: NewEvent) => Promise<unknown>,
): Promise<void> => {
  for (let at = 0; at < events.length; at += AT_ONCE)
    await Promise.all(events.slice(at, at + AT_ONCE).map(append))
}

/** Appends so many events a time to a new stream. */
export const appendInParts = async (
  store: EventStore,
  stream: string,
  events: readonly NewEvent[],
): Promise<void> => {
  for (let at = 0; at < events.length; at += AT_ONCE)
    await store.append(stream, afterEvents(at), events.slice(at, at + AT_ONCE))
}

/** A new stream whose events were appended one by one. */
export const givenStreamOf = async (store: EventStore, count: number) => {
  const stream = arbitraryStream()
  const events = arbitraryEvents(count)
  for (const [index, event] of events.entries()) await store.append(stream, afterEvents(index), [event])
  return { stream, events, ids: events.map(({ id }) => id) }
}
