import { mayRead, mayReadFrom } from '../../domain/access/visible.js'
import type { EventStore, RecordedEvent } from '../../kernel/ports/event-store.js'
import { Failure } from '../failure.js'
import type { Principal } from '../principal.js'

interface NamedEvent {
  readonly id: string
  readonly stream: string | undefined
}

/** @throws Failure also for an event that the principal may not read, as for one that does not exist */
export const provableEvent = async (
  eventStore: Pick<EventStore, 'findEvent' | 'readStream'>,
  { id, stream }: NamedEvent,
  principal: Principal,
): Promise<RecordedEvent> => {
  const { findEvent } = eventStore
  if (findEvent === undefined && stream === undefined)
    throw new Failure(
      'bad-request',
      'This event log finds an event by its id and "stream", the name of its stream.',
    )
  const named = await findEvent?.(id)
  const event =
    stream === undefined || stream === named?.stream
      ? named
      : mayReadFrom(principal, stream)
        ? await eventIn(eventStore, stream, id)
        : undefined
  if (event !== undefined && mayRead(principal, event)) return event
  throw new Failure('not-found', 'Event not found.')
}

const eventIn = async (eventStore: Pick<EventStore, 'readStream'>, stream: string, id: string) => {
  for await (const event of eventStore.readStream(stream, { withUnreadable: true }))
    if (event.id === id) return event
  return undefined
}
