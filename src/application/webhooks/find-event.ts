import { mayRead, mayReadFrom } from '../../domain/access/visible.js'
import { triggerOf } from '../../domain/webhooks/automations/matching/trigger-of.js'
import type { EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import { StreamUnreadable } from '../../kernel/ports/event-store-errors.js'
import { Failure, invalid } from '../failure.js'
import type { Principal } from '../principal.js'

interface EventReference {
  /** A position in decimal digits, or an id. */
  readonly event: string
  /** Some logs find an id only together with its stream. */
  readonly stream: string | undefined
}

/**
 * Finds an event of a team.
 *
 * @throws StreamUnreadable; Failure `not-found`, also for an event of another team; `invalid` with `loc` below `root`
 */
export const findTeamEvent = async (
  eventStore: EventStore,
  reference: EventReference,
  team: string,
  principal: Principal,
  root: readonly string[],
): Promise<RecordedEvent> => {
  const { stream } = reference
  if (stream === undefined || mayReadFrom(principal, stream)) {
    const event = await find(eventStore, reference, root)
    if (event?.unreadable !== undefined && mayRead(principal, event))
      throw new StreamUnreadable(event.stream, event.unreadable, event.position)
    if (event !== undefined && (triggerOf(event)?.team === team || mayRead(principal, event))) return event
  }
  throw new Failure('not-found', 'Event not found, or not an event of the team.')
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

const find = async (
  eventStore: EventStore,
  { event: named, stream }: EventReference,
  root: readonly string[],
): Promise<RecordedEvent | undefined> => {
  if (stream !== undefined) {
    for await (const event of eventStore.readStream(stream, { withUnreadable: true }))
      if (event.id === named) return event
    return undefined
  }
  if (UUID.test(named)) {
    if (eventStore.findEvent !== undefined) return eventStore.findEvent(named.toLowerCase())
    const msg =
      'Field required: this log finds an event by id only together with its stream; a position needs no stream'
    throw invalid([{ loc: [...root, 'stream'], type: 'missing', msg }])
  }
  if (!/^\d{1,19}$/.test(named)) {
    const msg = 'Input should be a log position in decimal digits or an event id'
    throw invalid([{ loc: [...root, 'event'], type: 'value_error', msg }])
  }
  return eventAt(eventStore, BigInt(named))
}

export const eventAt = async (
  eventStore: Pick<EventStore, 'readAll'>,
  position: Position,
): Promise<RecordedEvent | undefined> => {
  if (position === 0n) return undefined
  for await (const event of eventStore.readAll({ after: position - 1n, limit: 1 }))
    return event.position === position ? event : undefined
  return undefined
}
