import type { Services } from '../../application/services.js'
import type { Training } from '../../application/training/services.js'
import { noSuchJob, readJob } from '../../application/training/jobs.js'
import { Failure } from '../../application/failure.js'
import type { TrainingJobCreated } from '../../domain/training/events.js'
import { checkpointNamed } from '../../application/training/checkpoints.js'
import { trainedModelId } from '../../domain/training/model-id.js'
import { dataAddressIn } from '../../domain/training/sft-data.js'
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
    if (project === undefined || !access.canAccessProject(principal, project)) throw noSuchModel()
    return { project, modelId }
  },
})

/** Requires access to the team of the trained model that the path names. The step is null for all of the model. */
export const modelNamed = ({
  access,
  sha256,
  training: { models },
}: Authorizing & Pick<Services, 'sha256'>): Authorization<{
  readonly project: string
  readonly name: string
  readonly modelId: string
  readonly step: number | null
}> => ({
  errors: ['not-found', 'bad-request'],
  authorize: async ({ params, principal }) => {
    const name = params['id']!
    const address = dataAddressIn(name)
    if (address === undefined)
      throw new Failure(
        'bad-request',
        'Only trained models can be deleted, by the name wandb-artifact:///entity/project/name.',
      )
    const { project, collection, version } = address
    const modelId = trainedModelId(sha256, project, collection)
    const found = access.canAccessProject(principal, project)
      ? await models.read(modelId, ({ state }) => ({
          step: checkpointNamed(state.checkpoints, version)?.step,
        }))
      : undefined
    const isWhole = !/:[^/:]+$/.test(name)
    if (found === undefined || (!isWhole && found.step === undefined)) throw noSuchModel()
    return { project, name, modelId, step: isWhole ? null : found.step! }
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
    if (job === undefined || !services.access.canAccessProject(principal, job.project_id)) throw noSuchJob()
    return { project: job.project_id, job }
  },
})
