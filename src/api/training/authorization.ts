import type { Services } from '../../application/services.js'
import type { Training } from '../../application/training/training.js'
import { noSuchJob, readJob } from '../../application/training/training-jobs.js'
import { Failure } from '../../application/failure.js'
import type { TrainingJobCreated } from '../../domain/training/events.js'
import { entityOf } from '../../kernel/ids.js'
import type { Authorization } from '../server/authorization.js'

interface Authorizing extends Pick<Services, 'access' | 'eventStore'> {
  readonly training: Pick<Training, 'models'>
}

export const noSuchModel = (): Failure =>
  new Failure('not-found', 'Model not found, or the API key has no access to its team.')

/** Requires access to the team of the model in the path. */
export const ofModel = ({
  access,
  training: { models },
}: Authorizing): Authorization<{ readonly project: string; readonly modelId: string }> => ({
  errors: ['not-found'],
  authorize: async ({ params, principal }) => {
    const modelId = params['model_id']!
    const project = await models.read(modelId, ({ state }) => state.created!.project_id)
    if (project === undefined || !access.canAccessTeam(principal, entityOf(project))) throw noSuchModel()
    return { project, modelId }
  },
})

/** As `ofJob`, for jobs that workers train. */
export const ofWorkersJob = (
  services: { readonly training: Pick<Training, 'models' | 'builtIn'> } & Authorizing,
): ReturnType<typeof ofJob> => ({
  errors: ['not-found', 'conflict'],
  authorize: async (request) => {
    const found = await ofJob(services).authorize(request)
    const { base_model } = found.job
    if (services.training.builtIn.has(base_model))
      throw new Failure('conflict', `The service itself trains ${base_model}. Its jobs are not for workers.`)
    return found
  },
})

/** Requires access to the team of the job in the path. */
export const ofJob = (
  services: Authorizing,
): Authorization<{ readonly project: string; readonly job: TrainingJobCreated }> => ({
  errors: ['not-found'],
  authorize: async ({ params, principal }) => {
    const job = await readJob(services, params['job_id']!)
    if (job === undefined || !services.access.canAccessTeam(principal, entityOf(job.project_id)))
      throw noSuchJob()
    return { project: job.project_id, job }
  },
})
