import { collectionName, type CollectionPlace } from '../../domain/artifact/place.js'
import { entityOf } from '../../domain/ids.js'
import { Failure, invalid } from '../failure.js'
import { projectInPath, authorizeRead, authorizeWrite, type Teams } from '../projects/access.js'
import type { RouteRequest } from '../route.js'

/** The collection that a path names. */
export const collectionInPath = ({ params }: Pick<RouteRequest<unknown>, 'params'>): string => {
  const named = params['collection']!
  if (collectionName.is(named)) return named
  throw invalid([
    {
      loc: ['path', 'collection'],
      type: 'string_pattern_mismatch',
      msg: 'String should have 1 to 128 letters, digits, dots, underscores or hyphens',
    },
  ])
}

export interface ProjectPlace extends CollectionPlace {
  readonly project_id: string
}

export const placeInProject = (project_id: string, collection: string): ProjectPlace => ({
  team: entityOf(project_id),
  collection,
  project_id,
  registry: null,
})

/** The place in a project that a path names, for somebody who may read there. */
export const placeRead = (teams: Teams, asked: RouteRequest<unknown>): ProjectPlace => {
  const project = projectInPath(asked.params)
  authorizeRead(teams, asked.principal, project)
  return placeInProject(project, collectionInPath(asked))
}

/** The same for somebody who writes there: a team that the administrator names comes into being. */
export const placeWritten = async (teams: Teams, asked: RouteRequest<unknown>): Promise<ProjectPlace> => {
  const place = placeRead(teams, asked)
  await authorizeWrite(teams, asked.principal, place.project_id, asked.cause)
  return place
}

export const noSuchCollection = (): Failure => new Failure('not-found', 'There is no such collection.')

export const noSuchVersion = (): Failure => new Failure('not-found', 'The collection has no such version.')
