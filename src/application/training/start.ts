import type { StartingCheckpoint } from '../../domain/training/events.js'
import { trainedModelId } from '../../domain/training/model-id.js'
import { dataAddressIn } from '../../domain/training/sft-data.js'
import { collectionName } from '../../domain/artifacts/place.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { Failure } from '../failure.js'
import { checkpointNamed, findCheckpointVersion } from './checkpoints.js'
import type { Training } from './services.js'

/** What training begins with: a base model, or a checkpoint that was trained from it. */
export interface Start {
  readonly baseModel: string
  readonly from: StartingCheckpoint | null
}

interface StartServices extends Pick<Ports, 'eventStore' | 'sha256'> {
  readonly training: Pick<Training, 'models' | 'collections'>
}

/** The start by the name of a trained model; undefined for other names. @throws Failure if there is no such checkpoint */
export const findStart = async (
  { eventStore, sha256, training: { models, collections } }: StartServices,
  name: string,
  canSee: (project: string) => boolean,
): Promise<Start | undefined> => {
  const address = dataAddressIn(name)
  if (address === undefined || !collectionName.is(address.collection)) return undefined
  const { project, collection, version } = address
  const known = canSee(project)
    ? await models.read(
        trainedModelId(sha256, project, collection),
        ({ state: { created, checkpoints } }) => ({
          baseModel: created!.base_model,
          checkpoint: checkpointNamed(checkpoints, version),
          isUntrained: version === 'latest' && checkpoints.size === 0 && !created!.of_fine_tuning,
        }),
      )
    : undefined
  const stored =
    known && (await findCheckpointVersion({ eventStore }, collections, address, known.checkpoint))
  if (known === undefined || (stored === undefined && !known.isUntrained))
    throw new Failure('not-found', `There is no model ${name}, or the API key has no access to its team.`, {
      param: 'model',
      code: 'model_not_found',
    })
  const { baseModel, checkpoint } = known
  if (stored === undefined) return { baseModel, from: null }
  const { artifact_id } = stored.event.data as { readonly artifact_id: string }
  return {
    baseModel,
    from: { project_id: project, name: collection, artifact_id, step: checkpoint?.step ?? 0 },
  }
}
