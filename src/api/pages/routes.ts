import type { GatewayServices } from '../../gateway/gateway.js'
import type { AnyRoute } from '../server/route.js'
import { callsRoute } from './calls.js'
import { evaluationsRoute } from './evaluations.js'
import { runRowsRoute, runScoresRoute, trialsRoute } from './evaluation-rows.js'
import { explainRoute } from './explain.js'
import { exportRoutes } from './export.js'
import { fieldsRoute, valuesRoute } from './fields.js'
import { modelRequestsRoute } from './model-requests.js'
import { namesRoute } from './names.js'
import { errorsRoute, overviewRoute } from './overview.js'
import { positionRoute } from './position.js'
import { summaryRoute } from './summary.js'
import { teamProjectsRoute } from './projects.js'
import { trainingJobRoute, trainingJobsRoute, trainingModelsRoute, type TrainingPages } from './training.js'
import { threadRoute, threadsRoute } from './threads.js'
import { traceRoute } from './trace.js'

/** What the web interface asks for. These endpoints change with its pages. */
export const pageRoutes = (services: GatewayServices & TrainingPages): readonly AnyRoute[] => [
  traceRoute(services),
  explainRoute(services),
  callsRoute(services),
  summaryRoute(services),
  ...exportRoutes(services),
  evaluationsRoute(services),
  overviewRoute(services),
  errorsRoute(services),
  threadsRoute(services),
  threadRoute(services),
  runRowsRoute(services),
  runScoresRoute(services),
  trialsRoute(services),
  valuesRoute(services),
  fieldsRoute(services),
  namesRoute(services),
  positionRoute(services),
  teamProjectsRoute(services),
  modelRequestsRoute(services),
  trainingModelsRoute(services),
  trainingJobsRoute(services),
  trainingJobRoute(services),
]
