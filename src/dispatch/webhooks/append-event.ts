import type { DomainEvent } from '../../kernel/decider.js'
import { newEvent } from '../../kernel/event.js'
import type { Appended, EventStore, Expected } from '../../kernel/ports/event-store.js'
import { AppendOutcomeUnknown, StoreUnavailable } from '../../kernel/ports/event-store-errors.js'
import type { Ids } from '../../kernel/ports/clock.js'
import { retry } from '../../kernel/backoff.js'

export interface AppendDeps {
  readonly eventStore: Pick<EventStore, 'append'>
  readonly ids: Ids
}

const MOST_TRIES = 5
const BACKOFF = { firstMs: 200, maxMs: 1000 }

interface Trying {
  readonly tries?: number
  /** Called when the tries are used up. */
  readonly keepTrying?: () => boolean
}

/**
 * Appends one event at the expected revision. Retries transient failures with the same event id, which the store
 * recognises.
 */
export const appendEvent = async (
  { eventStore, ids }: AppendDeps,
  stream: string,
  expected: Expected,
  event: DomainEvent,
  causationId: string,
  { tries = MOST_TRIES, keepTrying = () => false }: Trying = {},
): Promise<Appended> => {
  const events = [newEvent(ids.next(), event, { correlationId: causationId, causationId, actor: 'system' })]
  return retry(
    () => eventStore.append(stream, expected, events),
    (error, tried) => {
      const mayPass = error instanceof AppendOutcomeUnknown || error instanceof StoreUnavailable
      return mayPass && (tried < tries || keepTrying())
    },
    BACKOFF,
  )
}
