import * as E from 'fp-ts/lib/Either.js'
import { findTrainingData, stepsOf } from '../../application/training/sft-data.js'
import { createJob, jobEvents, noSuchJob } from '../../application/training/jobs.js'
import { invalidBody, invalidField } from '../../application/failure.js'
import type { ModelCreated, TrainingJobCreated } from '../../domain/training/events.js'
import { optionsLacking, RL_OPTIONS, rlConfig } from '../../domain/training/rl-config.js'
import { SFT_OPTIONS, sftConfig } from '../../domain/training/sft-config.js'
import { givenGroups } from '../../domain/training/trajectories.js'
import { decode, type Codec } from '../../kernel/codec/codec.js'
import { nullable } from '../../kernel/codec/containers.js'
import { jsonObject, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { Cause } from '../../kernel/event.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { isLargerThan } from '../../kernel/json/measure.js'
import { jsonText } from '../../kernel/json/text.js'
import type { Authorization } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { readLog, writeAuthorized } from '../server/route-kinds.js'
import { didYouMean } from '../../kernel/nearest-name.js'
import { writing } from '../server/run.js'
import { noSuchModel, ofJob } from './authorization.js'
import { createdJob, eventsQuery, job, jobEventList, page } from './codecs.js'
import { nowOf, type TrainingServices } from './models.js'

const newRlJob = open('CreateTrainingJob', {
  required: { model_id: string, trajectory_groups: givenGroups },
  optional: { experimental_config: nullable(jsonObject) },
})

const newSftJob = open('CreateSftTrainingJob', {
  required: { model_id: string, training_data_url: string },
  optional: { config: nullable(jsonObject), experimental_config: nullable(jsonObject) },
})

const JOB = '/v1/preview/training-jobs/:job_id'

/** The model that a body names, in a team of the caller. */
const modelInBody = ({
  access,
  training: { models },
}: TrainingServices): Authorization<{ readonly project: string; readonly model: ModelCreated }> => ({
  errors: ['not-found'],
  authorize: async ({ body, principal }: RouteRequest<{ readonly model_id: string }>) => {
    const model = await models.read(body.model_id, ({ state }) => state.created!)
    if (model === undefined || !access.canAccessProject(principal, model.project_id)) throw noSuchModel()
    return { project: model.project_id, model }
  },
})

/** It is in an event. */
const MAX_CONFIG_BYTES = 512 * 1024

const checked = <A>(codec: Codec<A>, field: string, given: JsonObject | null): A => {
  requireSmallConfig(field, given)
  const decoded = decode(codec)(given ?? {})
  if (E.isRight(decoded)) return decoded.right
  throw invalidBody(decoded.left.map(({ loc, ...problem }) => ({ ...problem, loc: [field, ...loc] })))
}

const requireSmallConfig = (field: string, given: JsonObject | null): void => {
  if (isLargerThan(MAX_CONFIG_BYTES, given))
    throw invalidField([field], 'value_error', `Value should have at most ${MAX_CONFIG_BYTES} bytes as JSON`)
}

const givenBut = (names: readonly string[], options: JsonObject | null): readonly string[] =>
  Object.entries(options ?? {}).flatMap(([name, value]) =>
    value === null || names.includes(name) ? [] : [name],
  )

/** Refuses the first of some options, which the engine of the service would ignore. */
const refuseOptions = (field: string, [name]: readonly string[], known: readonly string[]): void => {
  if (name === undefined) return
  const hint = didYouMean(name, known)
  const rule = 'leave it out, or give it its default'
  throw invalidField([field, name], 'value_error', `The engine has no option ${name}${hint || `: ${rule}`}`)
}

const create =
  (services: TrainingServices) =>
  async (
    { model_id, project_id, base_model }: ModelCreated,
    rest: Pick<TrainingJobCreated, 'kind' | 'input' | 'config' | 'training_data_url'>,
    cause: Cause,
  ) => {
    const job_id = services.ids.next()
    const created: TrainingJobCreated = {
      model_id,
      project_id,
      job_id,
      base_model,
      created_at: nowOf(services),
      validation: null,
      from: null,
      ...rest,
    }
    const readableAt = await createJob(services, services.training.models)(created, cause)
    return { body: { id: job_id }, readableAt }
  }

const createRlJob = (services: TrainingServices): AnyRoute =>
  writeAuthorized(services, {
    method: 'post',
    path: '/v1/preview/training-jobs',
    summary:
      'Creates a job of reinforcement learning: one pass over groups of trajectories, which makes one checkpoint. Jobs of a model run ' +
      'one after another.',
    errorFormat: 'chat',
    body: newRlJob,
    errors: ['conflict'],
    response: createdJob,
    authorization: modelInBody(services),
    handle: ({ model, body: { trajectory_groups, experimental_config: config } }) => {
      requireSmallConfig('experimental_config', config)
      if (services.training.builtIn.has(model.base_model)) {
        checked(rlConfig, 'experimental_config', config)
        refuseOptions('experimental_config', optionsLacking(config ?? {}), RL_OPTIONS)
      }
      return async (cause) => {
        const input = await services.blobs.put(Buffer.from(jsonText(trajectory_groups as Json)))
        return create(services)(
          model,
          { kind: 'rl', input, config: config ?? {}, training_data_url: null },
          cause,
        )
      }
    },
  })

const createSftJob = (services: TrainingServices): AnyRoute =>
  writeAuthorized(services, {
    method: 'post',
    path: '/v1/preview/sft-training-jobs',
    summary:
      'Creates a fine-tuning job. The data are a file of an artifact, `wandb-artifact:///entity/project/name:version`, with one ' +
      'conversation `{"messages": […]}` a line.',
    errorFormat: 'chat',
    body: newSftJob,
    errors: ['conflict'],
    response: createdJob,
    authorization: modelInBody(services),
    handle: ({
      model,
      principal,
      body: { training_data_url, config, experimental_config: experimental },
    }) => {
      const { batch_size, learning_rate, epochs } = checked(sftConfig, 'config', config)
      const isBuiltIn = services.training.builtIn.has(model.base_model)
      if (isBuiltIn) {
        refuseOptions('config', givenBut(SFT_OPTIONS, config), SFT_OPTIONS)
        refuseOptions('experimental_config', givenBut([], experimental), SFT_OPTIONS)
      }
      return async (cause) => {
        const canSee = (project: string) => services.access.canAccessProject(principal, project)
        const data = await findTrainingData(
          services,
          { collections: services.training.collections, canSee, isBuiltIn },
          training_data_url,
        )
        const batches = stepsOf(data.conversations, { epochs, batchSize: batch_size, isBuiltIn })
        if (typeof learning_rate !== 'number' && learning_rate.length !== batches)
          throw invalidField(
            ['config', 'learning_rate'],
            'value_error',
            `The list has ${learning_rate.length} items, but ${data.conversations} conversations in ${epochs} epochs make ${batches} batches of ${batch_size}`,
          )
        return create(services)(
          model,
          { kind: 'sft', input: data.blob, config: config ?? {}, training_data_url },
          cause,
        )
      }
    },
  })

const readJob = (services: TrainingServices): AnyRoute =>
  readLog(services, {
    method: 'get',
    path: JOB,
    summary: 'Reads a training job.',
    errorFormat: 'chat',
    response: job,
    authorization: ofJob(services),
    handle:
      ({ job: { job_id, model_id, kind, base_model, created_at } }) =>
      async () => {
        const found = await services.training.models.readJobs(model_id, ({ state: { jobs, queue } }) => ({
          job: jobs.get(job_id),
          place: queue.indexOf(job_id),
        }))
        if (found.job === undefined) throw noSuchJob()
        const { state, error, step, endedAt } = found.job
        const queue = services.training.index.queues().find((one) => one.lease?.job_id === job_id)
        return {
          body: {
            id: job_id,
            model_id,
            kind,
            base_model,
            state,
            error_message: error,
            step,
            queue_position: found.place < 0 ? null : found.place,
            worker: queue?.lease?.worker ?? null,
            created_at,
            ended_at: endedAt,
          },
        }
      },
  })

const listEvents = (services: TrainingServices): AnyRoute =>
  readLog(services, {
    method: 'get',
    path: `${JOB}/events`,
    summary: 'Lists the events of a training job, oldest first. `after` is the id of an event.',
    errorFormat: 'chat',
    query: eventsQuery,
    response: jobEventList,
    authorization: ofJob(services),
    handle:
      ({ job, query }) =>
      async () => {
        const { data, has_more } = await jobEvents(services, services.training.models)(job, query)
        return { body: page(data, has_more) }
      },
  })

const cancelJob = (services: TrainingServices): AnyRoute =>
  writeAuthorized(services, {
    method: 'post',
    path: `${JOB}/cancel`,
    summary: 'Cancels a training job. A repeat, and a job that has ended, change nothing.',
    errorFormat: 'chat',
    response: emptyResponse,
    authorization: ofJob(services),
    handle: ({ job: { job_id, model_id } }) =>
      writing((cause) =>
        services.training.models.write(model_id, { type: 'CancelJob', job_id, now: nowOf(services) }, cause),
      ),
  })

/** Jobs of reinforcement learning and of fine-tuning. */
export const jobRoutes = (services: TrainingServices): readonly AnyRoute[] =>
  [createRlJob, createSftJob, readJob, listEvents, cancelJob].map((route) => route(services))
