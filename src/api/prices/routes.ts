import type { Services } from '../../application/services.js'
import type { AnyRoute } from '../server/route.js'
import { createRoute } from './create.js'
import { purgeRoute } from './purge.js'
import { queryRoute } from './query.js'

export const costRoutes = (services: Services): readonly AnyRoute[] => [
  createRoute(services),
  queryRoute(services),
  purgeRoute(services),
]
