import { labelRoutes } from '../artifacts/labels.js'
import type { AnyRoute } from '../route.js'
import { teamQuery } from './find.js'
import { linkRoutes, ofSeveral, REGISTERED, registeredPlace, type Linking } from './links.js'
import { registryRoutes } from './registries.js'

export const registriesRoutes = (parts: Linking): readonly AnyRoute[] => [
  ...registryRoutes(parts),
  ...linkRoutes(parts),
  ...labelRoutes({
    collection: REGISTERED,
    query: teamQuery,
    fails: ofSeveral,
    placeOf: (asked) => registeredPlace(parts, asked),
    write: parts.collections.writeRegistered,
    acknowledged: (_place, position) => position,
  }),
]
