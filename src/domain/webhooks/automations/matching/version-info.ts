import { artifactEvents, registeredEvents } from '../../../artifacts/events.js'
import type { EventStore, RecordedEvent } from '../../../../kernel/ports/event-store.js'
import { decodeData } from './decode-data.js'
import type { VersionInfo } from './trigger.js'

/** The version as its creation or the last change of its metadata describes it; undefined for events that only reference a version number. */
export const versionInfoIn = (event: RecordedEvent): VersionInfo | undefined => {
  switch (event.type) {
    case 'VersionCreated': {
      const data = decodeData(artifactEvents.VersionCreated, event)
      return data && { version: data.version, artifact_id: data.artifact_id, metadata: data.metadata }
    }
    case 'VersionDescribed': {
      const data = decodeData(artifactEvents.VersionDescribed, event)
      return data && { version: data.version, artifact_id: data.artifact_id, metadata: data.metadata }
    }
    case 'VersionLinked': {
      const data = decodeData(registeredEvents.VersionLinked, event)
      return data && { version: data.version, artifact_id: data.source.artifact_id, metadata: data.metadata }
    }
    default:
      return undefined
  }
}

/** The version with a number, up to a revision: found by reading the stream backwards. */
export const findVersionInfo = async (
  { eventStore }: { readonly eventStore: Pick<EventStore, 'readStream'> },
  { stream, revision }: Pick<RecordedEvent, 'stream' | 'revision'>,
  version: number,
): Promise<VersionInfo | undefined> => {
  for await (const event of eventStore.readStream(stream, { from: revision, backwards: true })) {
    const told = versionInfoIn(event)
    if (told?.version === version) return told
  }
  return undefined
}
