import { collectionOfModel } from '../../../application/training/checkpoints.js'
import { checkedData, stepsOf } from '../../../application/training/sft-data.js'
import { isServed } from '../../../application/training/training.js'
import { createJob, jobEvents, type JobEvent } from '../../../application/training/training-jobs.js'
import { throwIfRefused } from '../../../application/access/rights.js'
import { Failure, invalidField } from '../../../application/failure.js'
import type { FineTuning } from '../../../domain/training/fine-tuning.js'
import { trainedModelId } from '../../../domain/training/model-id.js'
import { instantOf } from '../../../kernel/codec/instant.js'
import type { Cause } from '../../../kernel/event.js'
import { entityOf } from '../../../kernel/ids.js'
import { isJsonObject, type JsonObject } from '../../../kernel/json/json.js'
import type { Principal } from '../../../application/principal.js'
import { findStart, type Start } from '../../../application/training/start.js'
import type { TrainingJob } from '../../../domain/training/state.js'
import type { Authorization } from '../../server/authorization.js'
import type { AnyRoute } from '../../server/route.js'
import { readLog, writeAuthorized } from '../../server/route-kinds.js'
import {
  fineTuningCheckpoint,
  fineTuningEvent,
  fineTuningJob,
  jobListQuery,
  listOf,
  listQuery,
  seconds,
} from './codecs.js'
import { noSuchFile, pageAfter } from './files.js'
import { newFineTuning, trainingOf, type NewFineTuning } from './new-job.js'
import { metricsOf, resultFileId } from './results.js'
import { projectInHeader, type FineTunings, type FineTuningServices } from './project.js'

const JOB = '/v1/fine_tuning/jobs/:job_id'
const PREFIX = 'ftjob-'

/** Fine-tuning jobs in the API of OpenAI. Each trains a new model. */
export const fineTuningJobRoutes = (
  services: FineTuningServices,
  tunings: FineTunings,
): readonly AnyRoute[] => {
  const { training, ids, clock, sha256 } = services
  const { models } = training
  const now = () => instantOf(clock.now())
  const inProject = projectInHeader(services)

  const jobNamed = async (project: string, id: string): Promise<FineTuning> => {
    const found = await tunings.read(project, ({ jobs }) => jobs.get(id.slice(PREFIX.length)))
    if (found === undefined || !id.startsWith(PREFIX))
      throw new Failure('not-found', `There is no fine-tuning job ${id} in the project.`)
    return found
  }
  const ofJob: Authorization<{ readonly project: string; readonly tuning: FineTuning }> = {
    errors: ['not-found'],
    authorize: async (request) => {
      const { project } = await inProject.authorize(request)
      return { project, tuning: await jobNamed(project, request.params['job_id']!) }
    },
  }

  const shown = async (tuning: FineTuning) => {
    const { job_id, model_id, model_name, given, seed, created_at, project_id } = tuning
    const known = await models.readJobs(model_id, ({ state }) => state.jobs.get(job_id))
    const state = known?.state ?? 'queued'
    const isDone = state === 'succeeded'
    const fileOf = (name: string) => (typeof given[name] === 'string' ? given[name] : null)
    const hyperparameters = tuning.hyperparameters ?? ((given['hyperparameters'] ?? {}) as JsonObject)
    return {
      id: PREFIX + job_id,
      object: 'fine_tuning.job' as const,
      created_at: seconds(created_at),
      finished_at: known?.endedAt == null ? null : seconds(known.endedAt),
      model: String(fileOf('model')),
      fine_tuned_model: isDone ? `wandb-artifact:///${project_id}/${model_name}` : null,
      organization_id: entityOf(project_id),
      status: state,
      training_file: String(fileOf('training_file')),
      validation_file: fileOf('validation_file'),
      result_files: isDone ? [resultFileId(job_id)] : [],
      trained_tokens: isDone ? (known?.tokens ?? null) : null,
      estimated_finish: known === undefined ? null : estimatedFinish(known, clock.now().getTime()),
      seed: seed ?? 0,
      hyperparameters,
      method: { type: 'supervised', supervised: { hyperparameters } },
      metadata: (given['metadata'] ?? {}) as JsonObject,
      integrations: [],
      error:
        known?.error == null || state !== 'failed'
          ? null
          : { code: 'training_failed', message: known.error, param: null },
    }
  }

  const dataIn = async (project: string, id: string, param: string, isBuiltIn: boolean) => {
    const file = await tunings.read(project, ({ files }) => files.get(id))
    if (file === undefined) throw noSuchFile(id, param)
    const { filename: path, blob, bytes: size } = file
    return checkedData(services, { path, blob, size }, { isBuiltIn, field: [param] })
  }

  /** A base model, or a checkpoint by the name that chat has for it. */
  const startOf = async (principal: Principal, project: string, name: string): Promise<Start> => {
    const canSee = (team: string) => services.access.canAccessTeam(principal, team)
    const start = (await findStart(services, name, canSee)) ?? { baseModel: name, from: null }
    if (isServed(training, start.baseModel, entityOf(project))) return start
    throw invalidField(
      ['model'],
      'value_error',
      `No worker fine-tunes ${name}. The service itself trains ${[...training.builtIn].join(', ')}, and what was trained from them`,
    )
  }

  const create = async (project: string, given: NewFineTuning, principal: Principal, cause: Cause) => {
    const { baseModel, from } = await startOf(principal, project, given.model)
    const isBuiltIn = training.builtIn.has(baseModel)
    const config = trainingOf(given, isBuiltIn)
    const data = await dataIn(project, given.training_file, 'training_file', isBuiltIn)
    stepsOf(data.conversations, { ...config, isBuiltIn })
    const validation =
      given.validation_file === null
        ? null
        : await dataIn(project, given.validation_file, 'validation_file', isBuiltIn)
    const job_id = ids.next()
    const model_name = `ft-${(given.suffix ?? 'model').replace(/[^A-Za-z0-9_.-]/g, '-')}-${sha256(job_id).slice(0, 8)}`
    const model_id = trainedModelId(sha256, project, model_name)
    const created_at = now()
    const model = {
      type: 'CreateModel',
      model_id,
      project_id: project,
      name: model_name,
      base_model: baseModel,
      ofFineTuning: true,
      returnExisting: true,
      now: created_at,
    } as const
    throwIfRefused((await models.write(model_id, model, cause, () => undefined)).refusals.get(0))
    const job = {
      model_id,
      project_id: project,
      job_id,
      kind: 'sft' as const,
      base_model: baseModel,
      input: data.blob,
      config: { epochs: config.epochs, batch_size: config.batchSize, learning_rate: config.learningRate },
      created_at,
      training_data_url: null,
      validation: validation?.blob ?? null,
      from,
    }
    const readableAt = await createJob(services, models)(job, cause)
    const tuning: FineTuning = {
      project_id: project,
      job_id,
      model_id,
      model_name,
      given: given,
      created_at,
      seed: given.seed,
      hyperparameters: config.hyperparameters,
    }
    await tunings.write(project, { type: 'AddFineTuning', job: tuning }, cause)
    return { tuning, readableAt }
  }

  return [
    writeAuthorized(services, {
      method: 'post',
      path: '/v1/fine_tuning/jobs',
      summary: 'Creates a fine-tuning job, which trains a new model on an uploaded file.',
      errorFormat: 'openai',
      body: newFineTuning,
      errors: ['not-found', 'conflict'],
      requestHeaders: ['OpenAI-Project'],
      response: fineTuningJob,
      authorization: inProject,
      handle:
        ({ project, principal, body }) =>
        async (cause) => {
          const { tuning, readableAt } = await create(project, body, principal, cause)
          return { body: await shown(tuning), readableAt }
        },
    }),
    readLog(services, {
      method: 'get',
      path: '/v1/fine_tuning/jobs',
      summary:
        'Lists the fine-tuning jobs of a project, the newest first. `metadata[key]=value` selects those with the pair, and ' +
        '`metadata=null` those without metadata.',
      errorFormat: 'openai',
      requestHeaders: ['OpenAI-Project'],
      errors: ['not-found'],
      query: jobListQuery,
      response: listOf(fineTuningJob),
      authorization: inProject,
      handle:
        ({ project, query }) =>
        async () => {
          const jobs = await tunings.read(project, (state) =>
            [...state.jobs.values()]
              .reverse()
              .filter(({ given }) => hasMetadata(given, query.metadata))
              .map((tuning) => ({ id: PREFIX + tuning.job_id, tuning })),
          )
          const { data, has_more } = pageAfter(jobs, query)
          const list = await Promise.all(data.map(({ tuning }) => shown(tuning)))
          return { body: { object: 'list' as const, data: list, has_more } }
        },
    }),
    readLog(services, {
      method: 'get',
      path: JOB,
      summary: 'Reads a fine-tuning job.',
      errorFormat: 'openai',
      requestHeaders: ['OpenAI-Project'],
      response: fineTuningJob,
      authorization: ofJob,
      handle:
        ({ tuning }) =>
        async () => ({ body: await shown(tuning) }),
    }),
    writeAuthorized(services, {
      method: 'post',
      path: `${JOB}/cancel`,
      summary: 'Cancels a fine-tuning job.',
      errorFormat: 'openai',
      requestHeaders: ['OpenAI-Project'],
      response: fineTuningJob,
      authorization: ofJob,
      handle:
        ({ tuning }) =>
        async (cause) => {
          const { job_id, model_id } = tuning
          const written = await models.write(
            model_id,
            { type: 'CancelJob', job_id, now: now() },
            cause,
            () => undefined,
          )
          return { body: await shown(tuning), readableAt: written.readableAt }
        },
    }),
    readLog(services, {
      method: 'get',
      path: `${JOB}/events`,
      summary: 'Lists the events of a fine-tuning job, the newest first.',
      errorFormat: 'openai',
      requestHeaders: ['OpenAI-Project'],
      query: listQuery,
      response: listOf(fineTuningEvent),
      authorization: ofJob,
      handle:
        ({ tuning, query: { after, limit } }) =>
        async () => {
          const page = await jobEvents(services, models)(tuning, {
            after: after?.replace(/^ftevent-/, ''),
            limit,
            newestFirst: true,
          })
          return {
            body: { object: 'list' as const, data: page.data.map(shownEvent), has_more: page.has_more },
          }
        },
    }),
    readLog(services, {
      method: 'get',
      path: `${JOB}/checkpoints`,
      summary: 'Lists the checkpoints of a fine-tuning job.',
      errorFormat: 'openai',
      requestHeaders: ['OpenAI-Project'],
      query: listQuery,
      response: listOf(fineTuningCheckpoint),
      authorization: ofJob,
      handle:
        ({ tuning, query }) =>
        async () => {
          const { job_id, model_id, model_name, project_id } = tuning
          const made = await models.read(model_id, ({ state: { checkpoints, jobs } }) => ({
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
          return { body: pageAfter(data, query) }
        },
    }),
  ]
}

const hasMetadata = ({ metadata }: JsonObject, asked: JsonObject | null): boolean => {
  const own = isJsonObject(metadata) ? metadata : {}
  if (asked === null) return Object.keys(own).length === 0
  return Object.entries(asked).every(([key, value]) => Object.hasOwn(own, key) && own[key] === value)
}

/** In seconds, by the steps so far; null before the first. */
const estimatedFinish = (
  { state, startedAt, reports, expectedSteps }: TrainingJob,
  now: number,
): number | null => {
  const done = reports - 1
  if (state !== 'running' || startedAt === null || expectedSteps === null || done <= 0) return null
  const since = Date.parse(startedAt)
  return Math.ceil((since + ((now - since) * Math.max(done, expectedSteps)) / done) / 1000)
}

const shownEvent = ({ id, type, data, created_at }: JobEvent) => {
  const event = {
    id: `ftevent-${id}`,
    object: 'fine_tuning.job.event' as const,
    created_at: seconds(created_at),
    level: type === 'training_failed' ? ('error' as const) : ('info' as const),
    type: 'message' as const,
    data: {} as JsonObject,
  }
  switch (type) {
    case 'training_started':
      return { ...event, message: `The job has started, with ${Number(data['num_sequences'])} steps.` }
    case 'gradient_step': {
      const metrics = metricsOf(data as Readonly<Record<string, number>>)
      return {
        ...event,
        type: 'metrics' as const,
        message: `Training loss ${Number(data['loss'])}`,
        data: metrics,
      }
    }
    case 'training_failed':
      return { ...event, message: typeof data['error_message'] === 'string' ? data['error_message'] : '' }
    default:
      return { ...event, message: 'The job has successfully completed' }
  }
}
