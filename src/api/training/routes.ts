import type { AnyRoute } from '../server/route.js'
import { jobRoutes } from './jobs.js'
import { modelRoutes, type TrainingServices } from './models.js'
import { systemCheckRoute, type SystemChecks } from './system-check.js'
import { workerRoutes } from './workers.js'

/** The training API: models, their checkpoints, jobs, and what workers do. */
export const trainingRoutes = (services: TrainingServices & SystemChecks): readonly AnyRoute[] => [
  ...modelRoutes(services),
  ...jobRoutes(services),
  ...workerRoutes(services),
  systemCheckRoute(services),
]
