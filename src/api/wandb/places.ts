import {
  collectionName,
  projectOfPlace,
  REGISTRY_PREFIX,
  type CollectionPlace,
} from '../../domain/artifacts/place.js'
import { registryName, entityOf as entityNameOf, projectNameOf } from '../../kernel/ids.js'
import { idOf } from './ids.js'

/** The registry that clients name as this project; undefined for an ordinary project. */
export const registryIn = (project: string): string | undefined => {
  const name = projectNameOf(project)
  return name.startsWith(REGISTRY_PREFIX) ? name.slice(REGISTRY_PREFIX.length) : undefined
}

/** A collection of a project or a registry; undefined for names that none can have. */
export const placeIn = (project: string, collection: string): CollectionPlace | undefined => {
  if (!collectionName.is(collection)) return undefined
  const team = entityNameOf(project)
  const registry = registryIn(project)
  if (registry === undefined) return { team, collection, project_id: project, registry: null }
  return registryName.is(registry) ? { team, collection, project_id: null, registry } : undefined
}

export const artifactId = (place: CollectionPlace, artifact: string): string =>
  idOf('Artifact', place.team, projectNameOf(projectOfPlace(place)), place.collection, artifact)
