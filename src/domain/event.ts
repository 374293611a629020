import type { DomainEvent } from './decider.js'
import type { JsonObject } from './json/json.js'
import type { EventMetadata, NewEvent } from './ports/event-store.js'

/** On whose behalf something is written: it becomes the metadata of every event it causes. */
export interface Cause {
  /** The id of the HTTP request (or of the event) that began it. */
  readonly correlationId: string
  readonly causationId: string
  /** A user id, or `system`. */
  readonly actor: string
}

/** The version of the event codecs; older events are upgraded where they are read. */
const SCHEMA_VERSION = 1

export const newEvent = (id: string, { type, data }: DomainEvent, cause: Cause): NewEvent => ({
  id,
  type,
  data: data as JsonObject,
  metadata: metadataOf(cause),
})

const made = new WeakMap<Cause, EventMetadata>()

/** One object a cause: a store that has written it once knows its text. */
const metadataOf = (cause: Cause): EventMetadata => {
  const known = made.get(cause)
  if (known !== undefined) return known
  const metadata: EventMetadata = {
    correlationId: cause.correlationId,
    causationId: cause.causationId,
    actor: cause.actor,
    schemaVersion: SCHEMA_VERSION,
  }
  made.set(cause, metadata)
  return metadata
}
