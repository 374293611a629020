import { artifactEvents, registeredEvents } from '../../artifact/events.js'
import { collectionStream, type CollectionPlace } from '../../artifact/place.js'
import { entityOf } from '../../ids.js'
import type { RecordedEvent } from '../../ports/event-store.js'
import type { EventType } from '../events.js'
import { decoded, enveloped } from './decoded.js'
import type { ArtifactTrigger, VersionShown } from './trigger.js'
import { versionTold } from './version-shown.js'

/** A change of a project's or a registry's collection. */
export const artifactTrigger = (event: RecordedEvent): ArtifactTrigger | undefined => {
  switch (event.type) {
    case 'AliasAdded': {
      const data = decoded(artifactEvents.AliasAdded, event)
      return data && placed(event, data, 'ADD_ARTIFACT_ALIAS', { alias: data.alias })
    }
    case 'TagAdded': {
      const data = decoded(artifactEvents.TagAdded, event)
      return data && placed(event, data, 'ADD_ARTIFACT_TAG', { tag: data.tag })
    }
    case 'TagRemoved': {
      const data = decoded(artifactEvents.TagRemoved, event)
      return data && placed(event, data, 'REMOVE_ARTIFACT_TAG', { tag: data.tag })
    }
    case 'VersionCreated': {
      const data = decoded(artifactEvents.VersionCreated, event)
      return data && placed(event, data, 'CREATE_ARTIFACT', { shown: versionTold(event) })
    }
    case 'VersionLinked': {
      const data = decoded(registeredEvents.VersionLinked, event)
      return data && placed(event, data, 'LINK_ARTIFACT', { shown: versionTold(event) })
    }
    case 'VersionUnlinked': {
      const data = decoded(registeredEvents.VersionUnlinked, event)
      return data && placed(event, data, 'UNLINK_ARTIFACT', {})
    }
    default:
      return undefined
  }
}

interface Changed extends CollectionPlace {
  readonly version: number
}

interface Said {
  readonly alias?: string
  readonly tag?: string
  readonly shown?: VersionShown | undefined
}

const placed = (
  event: RecordedEvent,
  { team, project_id, registry, collection, version }: Changed,
  type: EventType,
  { alias, tag, shown }: Said,
): ArtifactTrigger | undefined => {
  const place = { team, project_id, registry, collection }
  if (collectionStream(place) !== event.stream) return undefined
  if (project_id !== null && entityOf(project_id) !== team) return undefined
  return {
    kind: 'artifact',
    ...enveloped(event),
    types: [type],
    ...place,
    version,
    alias: alias ?? null,
    tag: tag ?? null,
    shown: shown ?? null,
  }
}
