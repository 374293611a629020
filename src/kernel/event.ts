import type { DomainEvent } from './decider.js'
import type { JsonObject } from './json/json.js'
import type { EventMetadata, NewEvent } from './ports/event-store.js'

/** The origin of events: it becomes their metadata. */
export interface Cause {
  /** Id of the HTTP request or event that started it. */
  readonly correlationId: string
  readonly causationId: string
  /** A user id, or `system`. */
  readonly actor: string
  /** The part of the service that wrote it. Clients cannot set it. */
  readonly part?: 'inference'
}

/**
 * In the metadata of every event. Raise it with the first event type that earlier releases do not know: they then
 * refuse to open the log. Codecs must keep accepting all events written so far.
 */
export const SCHEMA_VERSION = 1

export const newEvent = (id: string, { type, data }: DomainEvent, cause: Cause): NewEvent => ({
  id,
  type,
  data: data as JsonObject,
  metadata: metadataOf(cause),
})

// eslint-disable-next-line no-restricted-syntax -- Memoizes one pure value, by which the stores recognise metadata that they have serialised.
let last: { readonly cause: Cause; readonly metadata: EventMetadata } | undefined

/** Returns the same object for successive events of a cause, so that a store can reuse its serialised text. */
const metadataOf = (cause: Cause): EventMetadata => {
  if (last?.cause !== cause) last = { cause, metadata: { schemaVersion: SCHEMA_VERSION, ...causeOf(cause) } }
  return last.metadata
}

const causeOf = ({ correlationId, causationId, actor, part }: Cause): Cause => ({
  correlationId,
  causationId,
  actor,
  ...(part === undefined ? {} : { part }),
})
