import type { VersionCreated } from '../../domain/artifacts/events.js'
import { collectionName } from '../../domain/artifacts/place.js'
import {
  upstreamContent,
  type ServedModel,
  type UpstreamContent,
} from '../../domain/gateway/upstreams/content.js'
import { checkpointName } from '../../domain/gateway/upstreams/checkpoint-name.js'
import type { Upstream } from '../../domain/gateway/upstreams/directory.js'
import type { Target } from '../../domain/gateway/upstreams/offered.js'
import type { Checkpoint } from '../../domain/training/state.js'
import { trainedModelId } from '../../domain/training/model-id.js'
import { dataAddressIn, type DataAddress } from '../../domain/training/sft-data.js'
import {
  CHECKPOINT_FILE,
  checkpointNamed,
  findCheckpointVersion,
} from '../../application/training/checkpoints.js'
import type { Training } from '../../application/training/services.js'
import { filesIn } from '../../application/training/leases.js'
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

interface Asking {
  readonly canSee: (project: string) => boolean
  /** The targets of a base model at upstreams that a team may use. */
  readonly offered: (baseModel: string, team: string) => readonly Target[]
}

/**
 * The targets of a base model of the engine, or of a trained model as of now; empty if there is none. A model without
 * checkpoints is its base model.
 */
export const trainedTargets = async (
  services: Sampling,
  model: string,
  { canSee, offered }: Asking,
): Promise<readonly Target[]> => {
  const { training, sha256 } = services
  if (training.builtIn.has(model)) return [target(model, { baseModel: model })]
  const address = isTrainedName(model) ? dataAddressIn(model) : undefined
  if (address === undefined || !canSee(address.project) || !collectionName.is(address.collection)) return []
  const { project, collection, version } = address
  const known = await training.models.read(
    trainedModelId(sha256, project, collection),
    ({ state: { created, checkpoints } }): KnownModel => ({
      baseModel: created!.base_model,
      checkpoint: checkpointNamed(checkpoints, version),
      isUntrained: version === 'latest' && checkpoints.size === 0 && !created!.of_fine_tuning,
    }),
  )
  if (known !== undefined && !training.builtIn.has(known.baseModel))
    return offered(known.baseModel, entityOf(project)).flatMap((one) =>
      atUpstream(one, model, address, known),
    )
  const blob = await checkpointBlob(services, address, known?.checkpoint)
  if (blob !== undefined) return [target(model, { blob })]
  return known?.isUntrained === true ? [target(model, { baseModel: known.baseModel })] : []
}

interface KnownModel {
  readonly baseModel: string
  readonly checkpoint: Checkpoint | undefined
  readonly isUntrained: boolean
}

/** A checkpoint at an upstream that offers its base model and says how it names checkpoints. */
const atUpstream = (
  { upstream, model: base }: Target,
  id: string,
  { project, collection }: DataAddress,
  { checkpoint, isUntrained }: KnownModel,
): readonly Target[] => {
  const own = { ...base, id, aliases: [] }
  if (isUntrained) return [{ upstream, model: own, sharesWith: base.id }]
  if (checkpoint === undefined || base.checkpoint_id === null) return []
  const [entity = '', name = ''] = project.split('/')
  const place = { entity, project: name, model: collection, step: checkpoint.step }
  const upstream_id = checkpointName(base.checkpoint_id, place)
  return [{ upstream, model: { ...own, upstream_id }, sharesWith: base.id }]
}

/** The checkpoint that a model has of a step, or its newest; else a version that a client uploaded. */
const checkpointBlob = async (
  { eventStore, blobs, training: { collections } }: Sampling,
  address: DataAddress,
  checkpoint: Checkpoint | undefined,
): Promise<string | undefined> => {
  const stored = await findCheckpointVersion({ eventStore }, collections, address, checkpoint)
  if (stored === undefined) return undefined
  const files = await filesIn({ eventStore, blobs }, address.project, stored.event.data as VersionCreated)
  return files.find(({ path }) => path === CHECKPOINT_FILE)?.blob
}

export interface OwnedModel {
  readonly id: string
  /** In seconds since 1970; 0 for models that are not trained here. */
  readonly created: number
  readonly owner: string
}

/** The base models of the engine, and the trained models of some teams that can be asked. */
export const trainedModels = (
  { training: { index, builtIn } }: { readonly training: Pick<Training, 'index' | 'builtIn'> },
  { canSee, offered }: Asking,
): readonly OwnedModel[] => [
  ...[...builtIn].map((id) => ({ id, created: 0, owner: 'system' })),
  ...index
    .models()
    .filter(({ project_id, base_model, isNamed }) => {
      const team = entityOf(project_id)
      return (
        isNamed && canSee(project_id) && (builtIn.has(base_model) || offered(base_model, team).length > 0)
      )
    })
    .map(({ project_id, name, created_at }) => ({
      id: `${ARTIFACT}///${project_id}/${name}`,
      created: Math.floor(Date.parse(created_at) / 1000),
      owner: entityOf(project_id),
    })),
]
