import type { EventStore, RecordedEvent } from '../../domain/ports/event-store.js'
import { completed, needsEarlierEvents } from '../calls/complete.js'
import type { ProjectedEvent } from '../projection.js'

export interface CompletedEvent {
  readonly event: ProjectedEvent
  /** What was read from the stream. */
  readonly earlier: readonly RecordedEvent[]
}

/**
 * The resolved event, with what its rows need of earlier events of its stream. Depends on nothing after it, so that a
 * replay makes the same rows.
 */
export const completeEvent = async (
  eventStore: Pick<EventStore, 'readStream'>,
  event: RecordedEvent,
  resolve: (event: RecordedEvent) => ProjectedEvent | Promise<ProjectedEvent>,
): Promise<CompletedEvent> => {
  const own = await resolve(event)
  if (!needsEarlierEvents(event.type, event.data, event.revision)) return { event: own, earlier: [] }
  const earlier: RecordedEvent[] = []
  for await (const one of eventStore.readStream(event.stream)) {
    if (one.revision >= event.revision) break
    if (one.type.startsWith('Conflicting')) continue
    earlier.push(one)
    // A start is the only earlier event that ends, names and deletions need.
    if (one.type === 'CallStarted') break
  }
  const whole: ProjectedEvent[] = []
  for (const one of earlier) whole.push(one.type === 'CallEnded' ? await resolve(one) : one)
  return { event: completed(own, whole), earlier }
}
