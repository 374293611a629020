import { artifactEvents, registeredEvents } from '../../../artifacts/events.js'
import { collectionStream, type CollectionPlace } from '../../../artifacts/place.js'
import { entityOf } from '../../../../kernel/ids.js'
import type { RecordedEvent } from '../../../../kernel/ports/event-store.js'
import type { EventType } from '../events.js'
import { decodeData, envelopeOf } from './decode-data.js'
import type { ArtifactTrigger, VersionInfo } from './trigger.js'
import { versionInfoIn } from './version-info.js'

/** The trigger of a change to a collection of a project or registry. */
export const artifactTrigger = (event: RecordedEvent): ArtifactTrigger | undefined => {
  switch (event.type) {
    case 'AliasAdded': {
      const data = decodeData(artifactEvents.AliasAdded, event)
      return data && placed(event, data, 'ADD_ARTIFACT_ALIAS', { alias: data.alias })
    }
    case 'TagAdded': {
      const data = decodeData(artifactEvents.TagAdded, event)
      return data && placed(event, data, 'ADD_ARTIFACT_TAG', { tag: data.tag })
    }
    case 'TagRemoved': {
      const data = decodeData(artifactEvents.TagRemoved, event)
      return data && placed(event, data, 'REMOVE_ARTIFACT_TAG', { tag: data.tag })
    }
    case 'VersionCreated': {
      const data = decodeData(artifactEvents.VersionCreated, event)
      return data && placed(event, data, 'CREATE_ARTIFACT', { shown: versionInfoIn(event) })
    }
    case 'VersionLinked': {
      const data = decodeData(registeredEvents.VersionLinked, event)
      return data && placed(event, data, 'LINK_ARTIFACT', { shown: versionInfoIn(event) })
    }
    case 'VersionUnlinked': {
      const data = decodeData(registeredEvents.VersionUnlinked, event)
      return data && placed(event, data, 'UNLINK_ARTIFACT', {})
    }
    default:
      return undefined
  }
}

interface Changed extends CollectionPlace {
  readonly version: number
}

interface ArtifactChange {
  readonly alias?: string
  readonly tag?: string
  readonly shown?: VersionInfo | undefined
}

const placed = (
  event: RecordedEvent,
  { team, project_id, registry, collection, version }: Changed,
  type: EventType,
  { alias, tag, shown }: ArtifactChange,
): ArtifactTrigger | undefined => {
  const place = { team, project_id, registry, collection }
  if (collectionStream(place) !== event.stream) return undefined
  if (project_id !== null && entityOf(project_id) !== team) return undefined
  return {
    kind: 'artifact',
    ...envelopeOf(event),
    types: [type],
    ...place,
    version,
    alias: alias ?? null,
    tag: tag ?? null,
    shown: shown ?? null,
  }
}
