import { randomInt, randomUUID } from 'node:crypto'
import type { EventStore, NewEvent } from '../../../src/domain/ports/event-store.js'

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

/** A new stream whose events were appended one by one. */
export const givenStreamOf = async (store: EventStore, count: number) => {
  const stream = arbitraryStream()
  const events = arbitraryEvents(count)
  for (const event of events) await store.append(stream, 'any', [event])
  return { stream, events, ids: events.map(({ id }) => id) }
}
