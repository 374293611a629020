import type { Collections } from '../../application/artifacts/collections.js'
import type { Services } from '../../application/services.js'
import { inPath } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { writeProject } from '../server/route-kinds.js'
import { labelRoutes } from './labels.js'
import { placeInPath } from './place.js'
import { COLLECTION, versionRoutes } from './versions.js'

export const artifactRoutes = (services: Services, collections: Collections): readonly AnyRoute[] => [
  ...versionRoutes(services, collections),
  ...labelRoutes({
    collection: COLLECTION,
    labelRoute: ({ handle, ...spec }) =>
      writeProject(services, {
        ...spec,
        project: inPath,
        handle: (request) => handle(request, placeInPath(request)),
      }),
    write: collections.write,
  }),
]
