import type { comparisonsFrom } from '../../application/evaluations/compared-runs.js'
import type { Services } from '../../application/services.js'
import type { AnyRoute } from '../server/route.js'
import { evaluationObjectRoutes } from './collections.js'
import { compareRoute } from './compare.js'
import { leaderboardRoute } from './leaderboards.js'
import { predictionRoutes, scoreRoutes } from './predictions.js'
import { runRoutes } from './runs.js'
import { requestedRunRoutes } from './requested-runs.js'
import { resultsRoute } from './results.js'

/** Evaluations: their runs, predictions and scores. */
export const evaluationRoutes = (
  services: Services,
  comparisons: ReturnType<typeof comparisonsFrom>,
): readonly AnyRoute[] => [
  ...runRoutes(services),
  ...predictionRoutes(services),
  ...scoreRoutes(services),
  resultsRoute(services),
  ...requestedRunRoutes(services),
  compareRoute(services, comparisons),
  leaderboardRoute(services),
  ...evaluationObjectRoutes(services),
]
