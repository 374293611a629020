import { artifactEvents, registeredEvents } from '../../domain/artifacts/events.js'
import { projectOfPlace, type CollectionPlace } from '../../domain/artifacts/place.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { projectionOf } from '../projection.js'
import type { RowOf } from '../table.js'
import { MAKERS, VERSIONS } from './tables.js'

const { VersionCreated, VersionRepeated, VersionDeleted } = artifactEvents
const { VersionLinked, VersionUnlinked } = registeredEvents

export const artifactsProjection = projectionOf(
  'artifacts',
  { VersionCreated, VersionRepeated, VersionDeleted, VersionLinked, VersionUnlinked },
  (events) => {
    const versions: RowOf<typeof VERSIONS>[] = []
    const makers: RowOf<typeof MAKERS>[] = []
    for (const { type, data, position, recordedAt } of events) {
      const key = keyOf(data)
      if (type === 'VersionCreated' || type === 'VersionRepeated') {
        const { project_id, run_id, collection, version } = data
        if (run_id != null && project_id !== null)
          makers.push({ project_id, run_id, collection, version, position })
      }
      switch (type) {
        case 'VersionCreated': {
          const { artifact_id, type: kind, run_id, project_id: source_project, created_at: made_at } = data
          const made = { artifact_id, type: kind, run_id, source_project, made_at, made_position: position }
          versions.push({ ...key, ...made })
          break
        }
        case 'VersionLinked': {
          const { artifact_id, project_id: source_project } = data.source
          const made_at = recordedAt && instantOf(recordedAt)
          const made = { artifact_id, type: data.type, source_project, made_at, made_position: position }
          versions.push({ ...key, ...made })
          break
        }
        case 'VersionRepeated':
          break
        case 'VersionDeleted':
        case 'VersionUnlinked':
          versions.push({ ...key, ended_position: position })
      }
    }
    return [VERSIONS.rows(versions), MAKERS.rows(makers)]
  },
)

const keyOf = (data: CollectionPlace & { readonly version: number }) => ({
  project_id: projectOfPlace(data),
  collection: data.collection,
  version: data.version,
})
