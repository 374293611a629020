import { projectOfStream } from '../domain/access/visible.js'
import type { EventStore } from '../domain/ports/event-store.js'
import type { Reading } from './reading.js'

/**
 * The same store, whose writes readers do not miss from when they stand, although the request that wrote them goes on:
 * another one that finds them there and writes nothing is answered at once.
 */
export const notedWrites = (
  eventStore: EventStore,
  { ackPosition }: Pick<Reading, 'ackPosition'>,
): EventStore => {
  const append: EventStore['append'] = async (stream, expected, events) => {
    const appended = await eventStore.append(stream, expected, events)
    const project = projectOfStream(stream)
    if (project !== undefined) ackPosition(project, appended.position)
    return appended
  }
  return Object.assign(Object.create(eventStore) as EventStore, { append })
}
