import type { AnyRoute } from '../server/route.js'
import { createRoute, type CostWrites } from './create.js'
import { purgeRoute } from './purge.js'
import type { ProjectReads } from '../server/route-kinds.js'
import { queryRoute } from './query.js'

export const costRoutes = (parts: CostWrites & ProjectReads): readonly AnyRoute[] => [
  createRoute(parts),
  queryRoute(parts),
  purgeRoute(parts),
]
