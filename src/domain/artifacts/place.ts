import { nullable } from '../../kernel/codec/containers.js'
import { integerBetween } from '../../kernel/codec/leaves.js'
import { nameOf, projectId, registryName, teamName } from '../../kernel/ids.js'

export const collectionName = nameOf('collection')

/** Versions count from 0 within their collection. Clients write them `v0`, `v1` and so on. */
export const versionNumber = integerBetween(0, 2 ** 31 - 1)

/**
 * The location of a collection: a project, or a registry of a team. Exactly one of `project_id` and `registry` is
 * set. `team` is always the owner, the entity of the project.
 */
export const collectionPlace = {
  required: { team: teamName, collection: collectionName },
  optional: { project_id: nullable(projectId), registry: nullable(registryName) },
}

export interface CollectionPlace {
  readonly team: string
  readonly collection: string
  readonly project_id: string | null
  readonly registry: string | null
}

/** Clients see a registry as a project whose name begins with this. */
export const REGISTRY_PREFIX = 'wandb-registry-'

/** The project that a collection is in, or the one that clients see for its registry. */
export const projectOfPlace = ({ team, project_id, registry }: Omit<CollectionPlace, 'collection'>): string =>
  project_id ?? `${team}/${REGISTRY_PREFIX}${registry}`

export const collectionStream = ({ team, collection, project_id, registry }: CollectionPlace): string =>
  registry === null ? `artifact-${project_id}/${collection}` : `registered-${team}/${registry}/${collection}`
