import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import type { Training } from '../../application/training/services.js'
import { isServed } from '../../application/training/services.js'
import { deleteCheckpoints, deleteModel } from '../../application/training/checkpoints.js'
import { baseModelName, modelName, type ModelCreated } from '../../domain/training/events.js'
import { trainedModelId } from '../../domain/training/model-id.js'
import { givenGroups } from '../../domain/training/trajectories.js'
import { arrayOf, nullableText, withDefault } from '../../kernel/codec/containers.js'
import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import { boolean, int64, oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { entityOf, projectId, projectName, projectNameOf, teamName } from '../../kernel/ids.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import { Failure, invalidField } from '../../application/failure.js'
import { defaultEntity } from '../../application/principal.js'
import { emptyResponse } from '../server/empty-response.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { takePage } from '../server/page.js'
import { readLog, writeAuthorized, writeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { modelNamed, ofModel } from './authorization.js'
import { checkpointList, checkpointsQuery, model, page } from './codecs.js'

const newModel = open('ModelCreate', {
  required: { project: projectName, name: modelName, base_model: baseModelName },
  optional: { entity: nullableText(teamName), return_existing: withDefault(boolean, false, true) },
})

const deletedModel = open('DeletedModel', {
  required: { model_id: string, deleted_checkpoints: int64, deleted_run: boolean },
})

const deletedByName = open('DeletedModelByName', {
  required: { id: string, object: oneOf('model'), deleted: boolean },
})

const stepsToDelete = open('CheckpointsToDelete', { required: { steps: arrayOf(int64) } })
const deletedCheckpoints = open('DeletedCheckpoints', {
  required: { deleted_count: int64, not_found_steps: arrayOf(int64) },
})

const loggedTrajectories = open('LoggedTrajectories', {
  required: { split: string, trajectory_groups: givenGroups },
})

const MODEL = '/v1/preview/models/:model_id'

export interface TrainingServices extends Pick<
  Services,
  keyof Ports | 'access' | 'reading' | 'throttle' | 'signer' | 'publicUrl'
> {
  readonly training: Training
}

const modelJson = ({ model_id, project_id, name, base_model, created_at }: ModelCreated) => ({
  id: model_id,
  entity: entityOf(project_id),
  project: projectNameOf(project_id),
  name,
  base_model,
  run_id: name,
  created_at,
})

const projectOf = ({
  body,
  principal,
}: RouteRequest<{ readonly entity: string | null; readonly project: string }>) => {
  const project_id = `${body.entity ?? defaultEntity(principal)}/${body.project}`
  if (!projectId.is(project_id))
    throw invalidField(['project'], 'value_error', 'Input should be the name of a project')
  return project_id
}

const rewardsIn = (groups: readonly JsonObject[]): readonly number[] =>
  groups.flatMap(({ trajectories }) =>
    ((trajectories ?? []) as readonly JsonObject[]).map(({ reward }) => Number(reward ?? 0)),
  )

export const nowOf = ({ clock }: Pick<Ports, 'clock'>): Instant => instantOf(clock.now())

const createModel = (services: TrainingServices): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: '/v1/preview/models',
    summary:
      'Creates a model that is trained from a base model, or with `return_existing` returns the model of this name.',
    errorFormat: 'chat',
    body: newModel,
    errors: ['conflict'],
    response: model,
    project: projectOf,
    handle: ({ body: { name, base_model, return_existing }, project: project_id }) => {
      if (!isServed(services.training, base_model, entityOf(project_id)))
        throw invalidField(
          ['base_model'],
          'value_error',
          `No worker trains ${base_model}. The service itself trains ${[...services.training.builtIn].join(', ')}; others are trained by workers that register for them`,
        )
      const model_id = trainedModelId(services.sha256, project_id, name)
      const command = {
        type: 'CreateModel',
        model_id,
        project_id,
        name,
        base_model,
        returnExisting: return_existing,
        now: nowOf(services),
      } as const
      return writing(
        (cause) =>
          services.training.models.write(model_id, command, cause, ({ created }, events) => {
            for (const event of events) if (event.type === 'ModelCreated') return event.data
            return created!
          }),
        ({ state }) => modelJson(state),
      )
    },
  })

const deleteModelRoute = (services: TrainingServices): AnyRoute =>
  writeAuthorized(services, {
    method: 'delete',
    path: MODEL,
    summary: 'Deletes a model and its checkpoints. Its jobs that have not ended fail.',
    errorFormat: 'chat',
    response: deletedModel,
    authorization: ofModel(services),
    handle:
      ({ modelId }) =>
      async (cause) => {
        const { deleted, position } = await deleteModel(
          services.training.models,
          services.training.collections,
        )(modelId, nowOf(services), cause)
        return {
          body: { model_id: modelId, deleted_checkpoints: deleted, deleted_run: false },
          readableAt: position,
        }
      },
  })

const deleteByName = (services: TrainingServices): AnyRoute =>
  writeAuthorized(services, {
    method: 'delete',
    path: '/v1/models/*id',
    summary:
      'Deletes a trained model by its name, `wandb-artifact:///entity/project/name`, or with `:step<N>` a checkpoint of it.',
    errorFormat: 'openai',
    response: deletedByName,
    authorization: modelNamed(services),
    handle:
      ({ name, modelId, step }) =>
      async (cause) => {
        const { position } = await (step === null
          ? deleteModel(services.training.models, services.training.collections)(
              modelId,
              nowOf(services),
              cause,
            )
          : deleteCheckpoints(services.training.models, services.training.collections)(
              modelId,
              [step],
              cause,
            ))
        return { body: { id: name, object: 'model' as const, deleted: true }, readableAt: position }
      },
  })

const listCheckpoints = (services: TrainingServices): AnyRoute =>
  readLog(services, {
    method: 'get',
    path: `${MODEL}/checkpoints`,
    summary: 'Lists the checkpoints of a model by step. `after` is the id of a checkpoint.',
    errorFormat: 'chat',
    query: checkpointsQuery,
    response: checkpointList,
    authorization: ofModel(services),
    handle:
      ({ modelId, query: { after, limit, order } }) =>
      async () => {
        const all = await services.training.models.read(modelId, ({ state: { checkpoints } }) =>
          [...checkpoints.values()].map(({ id, step, metrics, savedAt }) => ({
            id,
            step,
            metrics,
            created_at: savedAt,
          })),
        )
        const ordered = order === 'asc' ? (all ?? []) : (all ?? []).toReversed()
        const noItem = () => new Failure('not-found', `No checkpoint of the model has the id ${after}.`)
        const { data, next } = takePage(ordered, { after, limit, keyOf: ({ id }) => id, noItem })
        return { body: page(data, next !== null) }
      },
  })

const deleteCheckpointsRoute = (services: TrainingServices): AnyRoute =>
  writeAuthorized(services, {
    method: 'delete',
    path: `${MODEL}/checkpoints`,
    summary: 'Deletes checkpoints of a model by their steps.',
    errorFormat: 'chat',
    body: stepsToDelete,
    response: deletedCheckpoints,
    authorization: ofModel(services),
    handle:
      ({ modelId, body: { steps } }) =>
      async (cause) => {
        const deleted = await deleteCheckpoints(services.training.models, services.training.collections)(
          modelId,
          steps,
          cause,
        )
        return {
          body: {
            deleted_count: deleted.steps.length,
            not_found_steps: [...new Set(steps)].filter((step) => !deleted.steps.includes(step)),
          },
          readableAt: deleted.position,
        }
      },
  })

const logTrajectories = (services: TrainingServices): AnyRoute =>
  writeAuthorized(services, {
    method: 'post',
    path: `${MODEL}/log`,
    summary: 'Logs trajectories, such as those of a validation.',
    errorFormat: 'chat',
    body: loggedTrajectories,
    response: emptyResponse,
    authorization: ofModel(services),
    handle:
      ({ modelId, body: { split, trajectory_groups } }) =>
      async (cause) => {
        const rewards = rewardsIn(trajectory_groups)
        const command = {
          type: 'LogTrajectories',
          log_id: services.ids.next(),
          split,
          groups: trajectory_groups.length,
          trajectories: rewards.length,
          mean_reward:
            rewards.length === 0 ? null : rewards.reduce((sum, one) => sum + one, 0) / rewards.length,
          content: await services.blobs.put(Buffer.from(jsonText(trajectory_groups as Json))),
          now: nowOf(services),
        } as const
        return writing((by) => services.training.models.write(modelId, command, by))(cause)
      },
  })

/** Models that are trained, and their checkpoints. */
export const modelRoutes = (services: TrainingServices): readonly AnyRoute[] =>
  [createModel, deleteModelRoute, deleteByName, listCheckpoints, deleteCheckpointsRoute, logTrajectories].map(
    (route) => route(services),
  )
