import type { Services } from '../../application/services.js'
import type { AnyRoute } from '../server/route.js'
import { evaluationObjectRoutes } from './collections.js'
import { cancelRoute } from './cancel.js'
import { compareRoute } from './compare.js'
import { evaluateModelRoute } from './evaluate-model.js'
import { leaderboardRoute } from './leaderboards.js'
import { predictionRoutes } from './predictions.js'
import { runRoutes } from './runs.js'
import { rescoreRoute } from './rescore.js'
import { resultsRoute } from './results.js'
import { scoreRoutes } from './scores.js'
import { statusRoute } from './status.js'

/** Evaluations: their runs, predictions and scores. */
export const evaluationRoutes = (services: Services): readonly AnyRoute[] => [
  ...runRoutes(services),
  ...predictionRoutes(services),
  ...scoreRoutes(services),
  resultsRoute(services),
  rescoreRoute(services),
  evaluateModelRoute(services),
  statusRoute(services),
  cancelRoute(services),
  compareRoute(services),
  leaderboardRoute(services),
  ...evaluationObjectRoutes(services),
]
