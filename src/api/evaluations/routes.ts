import type { AnyRoute } from '../route.js'
import { evaluationObjectRoutes } from './collections.js'
import { compareRoute } from './compare.js'
import type { Evaluations } from './evaluations.js'
import { leaderboardRoute } from './leaderboards.js'
import { predictionRoutes } from './predictions.js'
import { runRoutes } from './runs.js'
import { resultsRoute } from './results.js'
import { scoreRoutes } from './scores.js'

/** Evaluations: their runs, predictions and scores. */
export const evaluationRoutes = (evaluations: Evaluations): readonly AnyRoute[] => [
  ...runRoutes(evaluations),
  ...predictionRoutes(evaluations),
  ...scoreRoutes(evaluations),
  resultsRoute(evaluations),
  compareRoute(evaluations),
  leaderboardRoute(evaluations),
  ...evaluationObjectRoutes(evaluations),
]
