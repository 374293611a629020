import { artifactEvents, registeredEvents } from '../../artifact/events.js'
import type { EventStore, RecordedEvent } from '../../ports/event-store.js'
import { decoded } from './decoded.js'
import type { VersionShown } from './trigger.js'

/** What an event tells of a version that others of its stream only number; undefined for those others. */
export const versionTold = (event: RecordedEvent): VersionShown | undefined => {
  switch (event.type) {
    case 'VersionCreated': {
      const data = decoded(artifactEvents.VersionCreated, event)
      return data && { version: data.version, artifact_id: data.artifact_id, metadata: data.metadata }
    }
    case 'VersionLinked': {
      const data = decoded(registeredEvents.VersionLinked, event)
      return data && { version: data.version, artifact_id: data.source.artifact_id, metadata: data.metadata }
    }
    default:
      return undefined
  }
}

/** The version of a number as its stream told it, up to a revision: found by reading backwards. */
export const versionShown = async (
  { eventStore }: { readonly eventStore: Pick<EventStore, 'readStream'> },
  { stream, revision }: Pick<RecordedEvent, 'stream' | 'revision'>,
  version: number,
): Promise<VersionShown | undefined> => {
  for await (const event of eventStore.readStream(stream, { from: revision, backwards: true })) {
    const told = versionTold(event)
    if (told?.version === version) return told
  }
  return undefined
}
