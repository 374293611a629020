import type { AnyRoute } from '../server/route.js'
import { evaluationObjectRoutes } from './collections.js'
import { cancelRoute } from './cancel.js'
import { compareRoute } from './compare.js'
import { evaluateModelRoute } from './evaluate-model.js'
import type { Evaluations } from './evaluations.js'
import { leaderboardRoute } from './leaderboards.js'
import { predictionRoutes } from './predictions.js'
import { runRoutes } from './runs.js'
import { rescoreRoute } from './rescore.js'
import { resultsRoute } from './results.js'
import { scoreRoutes } from './scores.js'
import { statusRoute } from './status.js'

/** Evaluations: their runs, predictions and scores. */
export const evaluationRoutes = (evaluations: Evaluations): readonly AnyRoute[] => [
  ...runRoutes(evaluations),
  ...predictionRoutes(evaluations),
  ...scoreRoutes(evaluations),
  resultsRoute(evaluations),
  rescoreRoute(evaluations),
  evaluateModelRoute(evaluations),
  statusRoute(evaluations),
  cancelRoute(evaluations),
  compareRoute(evaluations),
  leaderboardRoute(evaluations),
  ...evaluationObjectRoutes(evaluations),
]
