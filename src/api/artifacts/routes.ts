import { inPath } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { writeProject } from '../server/route-kinds.js'
import { labelRoutes } from './labels.js'
import { placeInPath } from './place.js'
import { COLLECTION, versionRoutes, type Artifacts } from './versions.js'

export const artifactRoutes = (artifacts: Artifacts): readonly AnyRoute[] => [
  ...versionRoutes(artifacts),
  ...labelRoutes({
    collection: COLLECTION,
    labelRoute: ({ handle, ...spec }) =>
      writeProject(artifacts, {
        ...spec,
        project: inPath,
        handle: (request) => handle(request, placeInPath(request)),
      }),
    write: artifacts.collections.write,
  }),
]
