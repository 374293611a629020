import type { AnyRoute } from '../server/route.js'
import { dataFileRoutes } from './fine-tuning/files.js'
import { fineTuningJobRoutes } from './fine-tuning/jobs.js'
import { openFineTunings } from '../../application/training/fine-tunings.js'
import type { FineTuningServices } from './fine-tuning/project.js'
import { jobRoutes } from './jobs.js'
import { modelRoutes, type TrainingServices } from './models.js'
import { systemCheckRoute, type SystemChecks } from './system-check.js'
import { workerRoutes } from './workers.js'

/** The training API: models, their checkpoints, jobs, and what workers do. */
export const trainingRoutes = (
  services: TrainingServices & SystemChecks & FineTuningServices,
): readonly AnyRoute[] => {
  const tunings = openFineTunings(services)
  return [
    ...modelRoutes(services),
    ...jobRoutes(services),
    ...workerRoutes(services),
    systemCheckRoute(services),
    ...dataFileRoutes(services, tunings),
    ...fineTuningJobRoutes(services, tunings),
  ]
}
