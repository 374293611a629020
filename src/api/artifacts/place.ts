import { collectionName, type CollectionPlace } from '../../domain/artifacts/place.js'
import { entityOf } from '../../kernel/ids.js'
import { Failure, invalid } from '../../application/failure.js'
import type { RouteRequest } from '../server/route.js'

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

/** The collection in the path, within the project of the request. */
export const placeInPath = (
  request: Pick<RouteRequest, 'params'> & { readonly project: string },
): ProjectPlace => placeInProject(request.project, collectionInPath(request))

export const noSuchCollection = (): Failure => new Failure('not-found', 'Collection not found.')

export const noSuchVersion = (): Failure => new Failure('not-found', 'Version not found in the collection.')
