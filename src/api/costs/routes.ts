import type { AnyRoute } from '../route.js'
import { createRoute, type CostWrites } from './create.js'
import { purgeRoute } from './purge.js'
import { queryRoute, type CostReads } from './query.js'

export const costRoutes = (parts: CostWrites & CostReads): readonly AnyRoute[] => [
  createRoute(parts),
  queryRoute(parts),
  purgeRoute(parts),
]
