import { collectionOfModel } from '../../../application/training/checkpoints.js'
import { jobEvents } from '../../../application/training/jobs.js'
import { Failure } from '../../../application/failure.js'
import type { FineTuning } from '../../../domain/training/fine-tuning.js'
import { instantOf } from '../../../kernel/codec/instant.js'
import { isJsonObject, type JsonObject } from '../../../kernel/json/json.js'
import type { Authorization } from '../../server/authorization.js'
import type { AnyRoute } from '../../server/route.js'
import { readLog, writeAuthorized } from '../../server/route-kinds.js'
import {
  fineTuningCheckpoint,
  fineTuningEvent,
  fineTuningJob,
  jobListQuery,
  listOf,
  listPage,
  listQuery,
  seconds,
} from './codecs.js'
import { jobCreation } from './create-job.js'
import { eventJson, jobJson, PREFIX } from './job-json.js'
import { newFineTuning } from './new-job.js'
import type { FineTunings } from '../../../application/training/fine-tunings.js'
import { openAi, projectInHeader, type FineTuningServices } from './project.js'
import { metricsOf } from './results.js'

const JOB = '/v1/fine_tuning/jobs/:job_id'

/** The job in the path. */
const ofJob = (
  services: FineTuningServices,
  tunings: FineTunings,
): Authorization<{ readonly project: string; readonly tuning: FineTuning }> => ({
  errors: ['not-found'],
  authorize: async (request) => {
    const { project } = await projectInHeader(services).authorize(request)
    const id = request.params['job_id']!
    const tuning = await tunings.read(project, ({ jobs }) => jobs.get(id.slice(PREFIX.length)))
    if (tuning === undefined || !id.startsWith(PREFIX))
      throw new Failure('not-found', `There is no fine-tuning job ${id} in the project.`)
    return { project, tuning }
  },
})

const createJob = (services: FineTuningServices, tunings: FineTunings): AnyRoute =>
  writeAuthorized(services, {
    ...openAi,
    method: 'post',
    path: '/v1/fine_tuning/jobs',
    summary: 'Creates a fine-tuning job, which trains a new model on an uploaded file.',
    body: newFineTuning,
    errors: ['not-found', 'conflict'],
    response: fineTuningJob,
    authorization: projectInHeader(services),
    handle:
      ({ project, principal, body }) =>
      async (cause) => {
        const { tuning, readableAt } = await jobCreation(services, tunings)(project, body, principal, cause)
        return { body: await jobJson(services, tuning), readableAt }
      },
  })

const listJobs = (services: FineTuningServices, tunings: FineTunings): AnyRoute =>
  readLog(services, {
    ...openAi,
    method: 'get',
    path: '/v1/fine_tuning/jobs',
    summary:
      'Lists the fine-tuning jobs of a project, the newest first. `metadata[key]=value` selects those with the pair, and ' +
      '`metadata=null` those without metadata.',
    errors: ['not-found'],
    query: jobListQuery,
    response: listOf(fineTuningJob),
    authorization: projectInHeader(services),
    handle:
      ({ project, query }) =>
      async () => {
        const jobs = await tunings.read(project, (state) =>
          [...state.jobs.values()]
            .reverse()
            .filter(({ given }) => hasMetadata(given, query.metadata))
            .map((tuning) => ({ id: PREFIX + tuning.job_id, tuning })),
        )
        const { data, has_more } = listPage(jobs, query)
        const list = await Promise.all(data.map(({ tuning }) => jobJson(services, tuning)))
        return { body: { object: 'list' as const, data: list, has_more } }
      },
  })

const readJob = (services: FineTuningServices, tunings: FineTunings): AnyRoute =>
  readLog(services, {
    ...openAi,
    method: 'get',
    path: JOB,
    summary: 'Reads a fine-tuning job.',
    response: fineTuningJob,
    authorization: ofJob(services, tunings),
    handle:
      ({ tuning }) =>
      async () => ({ body: await jobJson(services, tuning) }),
  })

const cancelJob = (services: FineTuningServices, tunings: FineTunings): AnyRoute =>
  writeAuthorized(services, {
    ...openAi,
    method: 'post',
    path: `${JOB}/cancel`,
    summary: 'Cancels a fine-tuning job.',
    response: fineTuningJob,
    authorization: ofJob(services, tunings),
    handle:
      ({ tuning }) =>
      async (cause) => {
        const { job_id, model_id } = tuning
        const written = await services.training.models.write(
          model_id,
          { type: 'CancelJob', job_id, now: instantOf(services.clock.now()) },
          cause,
        )
        return { body: await jobJson(services, tuning), readableAt: written.readableAt }
      },
  })

const listEvents = (services: FineTuningServices, tunings: FineTunings): AnyRoute =>
  readLog(services, {
    ...openAi,
    method: 'get',
    path: `${JOB}/events`,
    summary: 'Lists the events of a fine-tuning job, the newest first.',
    query: listQuery,
    response: listOf(fineTuningEvent),
    authorization: ofJob(services, tunings),
    handle:
      ({ tuning, query: { after, limit } }) =>
      async () => {
        const page = await jobEvents(services, services.training.models)(tuning, {
          after: after?.replace(/^ftevent-/, ''),
          limit,
          newestFirst: true,
        })
        return { body: { object: 'list' as const, data: page.data.map(eventJson), has_more: page.has_more } }
      },
  })

const listCheckpoints = (services: FineTuningServices, tunings: FineTunings): AnyRoute =>
  readLog(services, {
    ...openAi,
    method: 'get',
    path: `${JOB}/checkpoints`,
    summary: 'Lists the checkpoints of a fine-tuning job.',
    query: listQuery,
    response: listOf(fineTuningCheckpoint),
    authorization: ofJob(services, tunings),
    handle:
      ({ tuning, query }) =>
      async () => {
        const { job_id, model_id, model_name, project_id } = tuning
        const made = await services.training.models.read(model_id, ({ state: { checkpoints, jobs } }) => ({
          checkpoints: [...checkpoints.values()],
          job: jobs.get(job_id),
        }))
        const { collection } = collectionOfModel({ project_id, name: model_name })
        const data = (made?.checkpoints ?? []).map(({ id, step, metrics }) => ({
          id: `ftckpt-${id}`,
          object: 'fine_tuning.job.checkpoint' as const,
          created_at: seconds(made?.job?.endedAt ?? tuning.created_at),
          fine_tuned_model_checkpoint: `wandb-artifact:///${project_id}/${collection}:step${step}`,
          fine_tuning_job_id: PREFIX + job_id,
          step_number: Math.max(0, (made?.job?.reports ?? 1) - 1),
          metrics: metricsOf(metrics),
        }))
        return { body: listPage(data, query) }
      },
  })

/** Fine-tuning jobs in the API of OpenAI. Each trains a new model. */
export const fineTuningJobRoutes = (
  services: FineTuningServices,
  tunings: FineTunings,
): readonly AnyRoute[] =>
  [createJob, listJobs, readJob, cancelJob, listEvents, listCheckpoints].map((route) =>
    route(services, tunings),
  )
const hasMetadata = ({ metadata }: JsonObject, asked: JsonObject | null): boolean => {
  const own = isJsonObject(metadata) ? metadata : {}
  if (asked === null) return Object.keys(own).length === 0
  return Object.entries(asked).every(([key, value]) => Object.hasOwn(own, key) && own[key] === value)
}
