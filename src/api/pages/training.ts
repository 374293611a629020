import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import type { KeptModel } from '../../application/training/trained-models.js'
import { noSuchJob, readJob } from '../../application/training/jobs.js'
import type { Training } from '../../application/training/services.js'
import { modelName } from '../../domain/training/events.js'
import { trainedModelId } from '../../domain/training/model-id.js'
import type { TrainingJob } from '../../domain/training/state.js'
import { arrayOf, nullable, nullableText, withDefault } from '../../kernel/codec/containers.js'
import { int64, jsonObject, oneOf, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { inQuery } from '../server/authorization.js'
import { integerInQuery } from '../server/integer-in-query.js'
import { takePage } from '../server/page.js'
import type { AnyRoute } from '../server/route.js'
import { readProjectLog } from '../server/route-kinds.js'
import { noSuchModel } from '../training/authorization.js'

export interface TrainingPages extends Pick<Services, 'access' | 'reading' | keyof Ports> {
  readonly training: Pick<Training, 'models' | 'index'>
}

const limit = withDefault(integerInQuery(1, 100), 50)

const jobRow = {
  id: string,
  kind: oneOf('rl', 'sft'),
  state: oneOf('queued', 'running', 'succeeded', 'failed', 'cancelled'),
  queued_at: string,
  started_at: nullable(string),
  ended_at: nullable(string),
  error_message: nullable(string),
  /** Of its checkpoint. */
  step: nullable(int64),
  gradient_steps: int64,
  expected_steps: nullable(int64),
}

const trainingJobRow = open('TrainingJobRow', {
  says: '`gradient_steps` were made of `expected_steps`; `step` is that of its checkpoint.',
  required: jobRow,
})

const jobJson = ({ id, kind, state, queuedAt, startedAt, endedAt, error, step, ...job }: TrainingJob) => ({
  id,
  kind,
  state,
  queued_at: queuedAt,
  started_at: startedAt,
  ended_at: endedAt,
  error_message: error,
  step,
  gradient_steps: Math.max(0, job.reports - 1),
  expected_steps: job.expectedSteps,
})

const trainingModel = open('TrainingModelRow', {
  required: {
    id: string,
    name: string,
    base_model: string,
    /** Null without checkpoints. */
    newest_step: nullable(int64),
    /** The one that runs, otherwise the newest. */
    job: nullable(trainingJobRow),
    jobs_queued: int64,
    last_event_at: nullable(string),
  },
})

const modelJson = ({ state: { created, checkpoints, jobs, queue, lease }, lastEventAt }: KeptModel) => {
  const job = lease === null ? [...jobs.values()].at(-1) : jobs.get(lease.jobId)
  return {
    id: created!.model_id,
    name: created!.name,
    base_model: created!.base_model,
    newest_step: [...checkpoints.keys()].at(-1) ?? null,
    job: job === undefined ? null : jobJson(job),
    jobs_queued: queue.length,
    last_event_at: lastEventAt?.toISOString() ?? null,
  }
}

export const trainingModelsRoute = (services: TrainingPages): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: '/api/pages/training/models',
    summary:
      'The trained models of a project by name, each with the job that runs or else its newest. `after` is the name of a model; `next` is null on the last page.',
    query: closed('TrainingModelsQuery', {
      required: { project_id: projectId },
      optional: { after: withDefault(string, ''), limit },
    }),
    response: open('TrainingModels', { required: { data: arrayOf(trainingModel), next: nullable(string) } }),
    project: inQuery,
    handle:
      ({ project, query: { after, limit } }) =>
      async () => {
        const { index, models } = services.training
        const named = index
          .models()
          .filter(({ project_id, name }) => project_id === project && name > after)
          .sort((one, other) => (one.name < other.name ? -1 : 1))
        const { data, next } = takePage(named, { limit, keyOf: ({ name }) => name })
        const rows = await Promise.all(data.map(({ model_id }) => models.read(model_id, modelJson)))
        return { body: { data: rows.filter((row) => row !== undefined), next } }
      },
  })

export const trainingJobsRoute = (services: TrainingPages): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: '/api/pages/training/jobs',
    summary:
      'A trained model and its jobs, newest first. `after` is the id of a job; `next` is null on the last page.',
    query: closed('TrainingJobsQuery', {
      required: { project_id: projectId, model: modelName },
      optional: { after: nullableText(string), limit },
    }),
    errors: ['not-found'],
    response: open('TrainingJobs', {
      required: { model: trainingModel, data: arrayOf(trainingJobRow), next: nullable(string) },
    }),
    project: inQuery,
    handle:
      ({ project, query: { model, after, limit } }) =>
      async () => {
        const body = await services.training.models.read(
          trainedModelId(services.sha256, project, model),
          (found) => {
            const jobs = [...found.state.jobs.values()].toReversed()
            const paging = { after: after ?? undefined, limit, keyOf: ({ id }: TrainingJob) => id }
            const { data, next } = takePage(jobs, { ...paging, noItem: noSuchJob })
            return { model: modelJson(found), data: data.map(jobJson), next }
          },
        )
        if (body === undefined) throw noSuchModel()
        return { body }
      },
  })

export const trainingJobRoute = (services: TrainingPages): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: '/api/pages/training/job',
    summary: 'A training job of a project, with its configuration.',
    query: closed('TrainingJobQuery', { required: { project_id: projectId, job_id: string } }),
    errors: ['not-found'],
    response: open('TrainingJobDetail', {
      says: '`before` is the number of jobs of the model that run first, null unless it is queued.',
      required: {
        ...jobRow,
        model: string,
        base_model: string,
        config: jsonObject,
        training_data_url: nullable(string),
        before: nullable(int64),
        worker: nullable(string),
      },
    }),
    project: inQuery,
    handle:
      ({ project, query: { job_id } }) =>
      async () => {
        const definition = await readJob(services, job_id)
        if (definition?.project_id !== project) throw noSuchJob()
        const { model_id, base_model, config, training_data_url } = definition
        const body = await services.training.models.readJobs(model_id, ({ state }) => {
          const job = state.jobs.get(job_id)
          if (job === undefined) throw noSuchJob()
          const { created, queue, lease } = state
          const place = queue.indexOf(job_id)
          return {
            ...jobJson(job),
            model: created!.name,
            base_model,
            config,
            training_data_url,
            before: place < 0 ? null : place + (lease === null ? 0 : 1),
            worker: lease?.jobId === job_id ? lease.worker : null,
          }
        })
        return { body }
      },
  })
