import type { AnyRoute } from '../route.js'
import { cancelRoute } from './cancel.js'
import type { Evaluations } from './evaluations.js'
import { rescoreRoute } from './rescore.js'
import { statusRoute } from './status.js'

export const evaluationRoutes = (evaluations: Evaluations): readonly AnyRoute[] => [
  rescoreRoute(evaluations),
  statusRoute(evaluations),
  cancelRoute(evaluations),
]
