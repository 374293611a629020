import type { AllStreamRecordedEvent, RecordedEvent as ClientEvent } from '@eventstore/db-client'
import { isJsonObject } from '../../../kernel/json/json.js'
import type { EventMetadata, Position, RecordedEvent } from '../../../kernel/ports/event-store.js'
import { requireKnownSchema } from '../known-schema.js'
import { takeDigits } from './digits-beside.js'
import { ForeignEvent } from './failures.js'

/** Names that begin so belong to the server: statistics, metadata of streams, links. */
export const isSystemName = (name: string): boolean => name.startsWith('$')

const isOurMetadata = (metadata: unknown): metadata is EventMetadata =>
  isJsonObject(metadata) &&
  typeof metadata['correlationId'] === 'string' &&
  typeof metadata['causationId'] === 'string' &&
  typeof metadata['actor'] === 'string' &&
  typeof metadata['schemaVersion'] === 'number'

/**
 * An event that this program wrote; undefined for one of the server's own, and for one that another program wrote into
 * the same server: it lacks our metadata or is no JSON object.
 *
 * @throws NewerEvents
 */
export const ourEvent = (event: ClientEvent | AllStreamRecordedEvent): RecordedEvent | undefined => {
  const { id, type, streamId, revision, isJson, created } = event
  // The package's types say more than a foreign event keeps.
  const data: unknown = event.data
  if (!isJson || isSystemName(type) || isSystemName(streamId)) return undefined
  if (!isJsonObject(data) || !isJsonObject(event.metadata)) return undefined
  const metadata = takeDigits(data, event.metadata)
  if (!isOurMetadata(metadata)) return undefined
  requireKnownSchema(metadata.schemaVersion)
  return {
    id,
    type,
    data,
    metadata,
    stream: streamId,
    revision,
    position: positionOf(event),
    recordedAt: created,
    size: JSON.stringify(data).length + JSON.stringify(metadata).length,
  }
}

/** What old servers give where they know no position. */
const NO_POSITION = 2n ** 64n - 1n

/** Commit and prepare are the same for whatever is written over gRPC, so one number says both. */
const positionOf = (event: ClientEvent | AllStreamRecordedEvent): Position => {
  const position = (event as Partial<AllStreamRecordedEvent>).position
  if (position === undefined || position.commit >= NO_POSITION)
    throw new ForeignEvent(
      'the EventStoreDB is too old: it does not return positions with the events of a stream',
    )
  return position.commit
}

export const clientPosition = (position: Position) => ({ commit: position, prepare: position })
