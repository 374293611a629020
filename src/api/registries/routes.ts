import { openCollections } from '../artifacts/collections.js'
import { labelRoutes } from '../artifacts/labels.js'
import { artifactRoutes } from '../artifacts/routes.js'
import type { AnyRoute } from '../route.js'
import { openRegistries, teamQuery } from './find.js'
import { linkRoutes, ofSeveral, REGISTERED, registeredPlace, type Linking } from './links.js'
import { registryRoutes } from './registries.js'

/** Collections in projects and those in registries, which show versions of the former. */
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
    query: teamQuery,
    errors: ofSeveral,
    placeOf: (asked) => registeredPlace(parts, asked),
    write: parts.collections.writeRegistered,
    acknowledged: (_place, position) => position,
  }),
]
