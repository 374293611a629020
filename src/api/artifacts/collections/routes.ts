import type { Collections } from '../../../application/artifacts/collections.js'
import type { Services } from '../../../application/services.js'
import { labelRoutes } from '../labels.js'
import { artifactRoutes } from '../versions.js'
import type { AnyRoute } from '../../server/route.js'
import { writeDirectory } from '../../server/route-kinds.js'
import { collectionListRoutes } from './list.js'
import { linkRoutes, ofRegistry, REGISTERED } from './links.js'
import { registryRoutes } from './registries.js'

/** Collections of projects, and those of registries that link their versions. */
export const collectionRoutes = (services: Services, collections: Collections): readonly AnyRoute[] => [
  ...artifactRoutes(services, collections),
  ...registryRoutes(services),
  ...collectionListRoutes(services),
  ...linkRoutes(services, collections),
  ...labelRoutes({
    collection: REGISTERED,
    labelRoute: ({ handle, ...spec }) =>
      writeDirectory({
        ...spec,
        ...ofRegistry(services),
        handle: (request) => handle(request, request.place),
      }),
    write: collections.writeRegistered,
  }),
]
