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
  /** The part of the service that writes of its own knowledge, which no client can say it is. */
  readonly part?: 'inference'
}

/**
 * Stands in every event. Codecs take what was ever written under it; it is raised with the first event that a program of
 * before would not know, which then refuses the log.
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

/** One object for the events that a cause has in a row: a store that has written it once knows its text. */
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
