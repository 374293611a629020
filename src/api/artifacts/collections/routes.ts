import { openCollections } from '../../../application/artifacts/collections.js'
import { labelRoutes } from '../labels.js'
import { artifactRoutes } from '../routes.js'
import type { AnyRoute } from '../../server/route.js'
import { writeDirectory } from '../../server/route-kinds.js'
import { openRegistries } from './find.js'
import { linkRoutes, ofRegistry, REGISTERED, type Linking } from './links.js'
import { registryRoutes } from './registries.js'

/** Collections of projects, and those of registries that link their versions. */
export const collectionRoutes = (
  parts: Omit<Linking, 'collections' | 'registriesOf'>,
): readonly AnyRoute[] => {
  const { ports } = parts
  const all = { ...parts, collections: openCollections(ports), registriesOf: openRegistries(ports) }
  return [...artifactRoutes(all), ...registriesRoutes(all)]
}

const registriesRoutes = (parts: Linking): readonly AnyRoute[] => [
  ...registryRoutes(parts),
  ...linkRoutes(parts),
  ...labelRoutes({
    collection: REGISTERED,
    labelRoute: ({ handle, ...spec }) =>
      writeDirectory({ ...spec, ...ofRegistry(parts), handle: (request) => handle(request, request.place) }),
    write: parts.collections.writeRegistered,
  }),
]
