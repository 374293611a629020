import type { VersionCreated } from '../../domain/artifacts/events.js'
import { collectionName } from '../../domain/artifacts/place.js'
import { versionNamed, type CollectionState } from '../../domain/artifacts/state.js'
import {
  upstreamContent,
  type ServedModel,
  type UpstreamContent,
} from '../../domain/gateway/upstreams/content.js'
import type { Upstream } from '../../domain/gateway/upstreams/directory.js'
import type { Target } from '../../domain/gateway/upstreams/offered.js'
import type { Checkpoint, ModelState } from '../../domain/training/state.js'
import { trainedModelId } from '../../domain/training/model-id.js'
import { dataAddressIn, type DataAddress } from '../../domain/training/sft-data.js'
import { findVersion, versionWithId } from '../../application/artifacts/find-version.js'
import { CHECKPOINT_FILE } from '../../application/training/checkpoints.js'
import type { Training } from '../../application/training/training.js'
import { filesIn } from '../../application/training/work.js'
import { decode } from '../../kernel/codec/codec.js'
import { entityOf } from '../../kernel/ids.js'
import type { Ports } from '../../kernel/ports/ports.js'
import * as E from 'fp-ts/lib/Either.js'

/** Requests to it are answered by the engine of the service. */
export const ENGINE_ADDRESS = 'engine:local'
const ENGINE_UPSTREAM = 'built-in'

const content = E.getOrElse((): UpstreamContent => {
  throw new Error('the built-in upstream does not match its codec')
})(
  decode(upstreamContent)({
    name: ENGINE_UPSTREAM,
    base_url: ENGINE_ADDRESS,
    // The engine is part of the service, so its tokens cost nothing.
    models: [
      { id: 'any', upstream_id: 'any', price: { prompt_token_cost: '0', completion_token_cost: '0' } },
    ],
  }),
)

const servedModel = (id: string, upstream_id: string): ServedModel => ({
  ...content.models[0]!,
  id,
  upstream_id,
})

/** Every model that was asked for is offered while it is asked: older checkpoints answer while newer ones are made. */
export const engineModelOf = (upstreamId: string, modelId: string): ServedModel | undefined =>
  upstreamId === ENGINE_UPSTREAM ? servedModel(modelId, modelId) : undefined

const target = (model: string, sampled: SampledModel): Target => {
  const served = servedModel(model, modelText(sampled))
  const upstream: Upstream = {
    id: ENGINE_UPSTREAM,
    team: null,
    content: { ...content, models: [served] },
    isConfigured: true,
  }
  return { upstream, model: served }
}

/** What the engine samples: a base model, or the checkpoint in a blob. */
export type SampledModel = { readonly baseModel: string } | { readonly blob: string }

const BLOB = 'checkpoint:'

/** As the name of the model in the request to the engine. */
const modelText = (sampled: SampledModel): string =>
  'blob' in sampled ? BLOB + sampled.blob : sampled.baseModel

export const modelIn = (text: string): SampledModel =>
  text.startsWith(BLOB) ? { blob: text.slice(BLOB.length) } : { baseModel: text }

const ARTIFACT = 'wandb-artifact:'

const isTrainedName = (model: string): boolean => model.startsWith(ARTIFACT)

type Sampling = Pick<Ports, 'eventStore' | 'blobs' | 'sha256'> & {
  readonly training: Pick<Training, 'models' | 'collections' | 'builtIn'>
}

/** The project of a model named `wandb-artifact:///entity/project/name[:version]`; undefined for other names. */
export const projectOfTrained = (model: string): string | undefined =>
  isTrainedName(model) ? dataAddressIn(model)?.project : undefined

/**
 * The target of a base model of the engine, or of a trained model as of now; undefined if there is none. A model without
 * checkpoints is its base model.
 */
export const trainedTarget = async (
  services: Sampling,
  model: string,
  canSee: (entity: string) => boolean,
): Promise<Target | undefined> => {
  const { builtIn } = services.training
  if (builtIn.has(model)) return target(model, { baseModel: model })
  const address = isTrainedName(model) ? dataAddressIn(model) : undefined
  if (address === undefined || !canSee(entityOf(address.project)) || !collectionName.is(address.collection))
    return undefined
  const sampled = (await checkpointAt(services, address)) ?? (await baseOf(services, address))
  return sampled && target(model, sampled)
}

/** The checkpoint that a model has of a step, or its newest; else a version that a client uploaded. */
const checkpointAt = async (
  { eventStore, blobs, sha256, training: { models, collections } }: Sampling,
  { project, collection, version }: DataAddress,
): Promise<SampledModel | undefined> => {
  const artifactId = await models.read(
    trainedModelId(sha256, project, collection),
    ({ state: { checkpoints } }) => checkpointNamed(checkpoints, version)?.artifactId,
  )
  const place = { team: entityOf(project), collection, project_id: project, registry: null }
  const choose =
    artifactId === undefined
      ? (state: CollectionState) => versionNamed(state, version)
      : versionWithId(artifactId)
  const stored = await findVersion({ eventStore }, collections, place, choose)
  if (stored === undefined) return undefined
  const files = await filesIn({ eventStore, blobs }, project, stored.event.data as unknown as VersionCreated)
  const file = files.find(({ path }) => path === CHECKPOINT_FILE)
  return file && { blob: file.blob }
}

const checkpointNamed = (checkpoints: ModelState['checkpoints'], version: string): Checkpoint | undefined => {
  if (version === 'latest') return [...checkpoints.values()].at(-1)
  const [, step] = /^step(\d{1,9})$/.exec(version) ?? []
  return step === undefined ? undefined : checkpoints.get(Number(step))
}

/** Only the newest checkpoint of a model that has none is its base model. */
const baseOf = async (
  { sha256, training: { models, builtIn } }: Sampling,
  { project, collection, version }: DataAddress,
): Promise<SampledModel | undefined> => {
  if (version !== 'latest') return undefined
  const baseModel = await models.read(trainedModelId(sha256, project, collection), ({ state }) =>
    state.checkpoints.size === 0 ? state.created!.base_model : undefined,
  )
  return baseModel !== undefined && builtIn.has(baseModel) ? { baseModel } : undefined
}

/** The base models of the engine, and the trained models of some teams. */
export const trainedNames = (
  { training: { index, builtIn } }: { readonly training: Pick<Training, 'index' | 'builtIn'> },
  canSee: (team: string) => boolean,
): readonly string[] => [
  ...builtIn,
  ...index
    .models()
    .filter(({ project_id }) => canSee(entityOf(project_id)))
    .map(({ project_id, name }) => `${ARTIFACT}///${project_id}/${name}`),
]
