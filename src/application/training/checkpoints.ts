import { createHash } from 'node:crypto'
import { md5Digest } from '../../domain/files/file.js'
import type { CollectionPlace } from '../../domain/artifacts/place.js'
import { versionNamed } from '../../domain/artifacts/state.js'
import { versionName } from '../../domain/artifacts/version-name.js'
import type { ModelCreated, TrainedModelEvent } from '../../domain/training/events.js'
import type { DataAddress } from '../../domain/training/sft-data.js'
import type { Checkpoint, ModelState } from '../../domain/training/state.js'
import type { Instant } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { storeFile } from '../files/files.js'
import { entityOf } from '../../kernel/ids.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { throwIfRefused } from '../access/rights.js'
import type { Collections } from '../artifacts/collections.js'
import { manifestDigest, storedByMd5 } from '../artifacts/uploads.js'
import { Failure } from '../failure.js'
import { findVersion, versionWithId } from '../artifacts/find-version.js'
import type { TrainedModels } from './trained-models.js'

type CheckpointPorts = Pick<Ports, 'eventStore' | 'ids' | 'blobs'>

/** A file that was uploaded to the project of a model. */
export interface UploadedFile {
  readonly path: string
  /** In hexadecimal. */
  readonly md5: string
}

const CHECKPOINT_TYPE = 'lora'

/** The file of a checkpoint of the built-in engine. */
export const CHECKPOINT_FILE = 'checkpoint.bin'

/** The collection that has the checkpoints of a model. */
export const collectionOfModel = ({
  project_id,
  name,
}: Pick<ModelCreated, 'project_id' | 'name'>): CollectionPlace => ({
  team: entityOf(project_id),
  collection: name,
  project_id,
  registry: null,
})

const md5Of = (content: string | Uint8Array) => createHash('md5').update(content)

/** The checkpoint of a model by a version of its name; `latest` is the newest. */
export const checkpointNamed = (
  checkpoints: ModelState['checkpoints'],
  version: string,
): Checkpoint | undefined => {
  if (version === 'latest') return [...checkpoints.values()].at(-1)
  const [, step] = /^step(\d{1,9})$/.exec(version) ?? []
  return step === undefined ? undefined : checkpoints.get(Number(step))
}

/** The version of a checkpoint that a model has, or else one that a client uploaded under the name of the model. */
export const findCheckpointVersion = (
  ports: Pick<Ports, 'eventStore'>,
  collections: Collections,
  { project, collection, version }: DataAddress,
  checkpoint: Checkpoint | undefined,
) =>
  findVersion(
    ports,
    collections,
    collectionOfModel({ project_id: project, name: collection }),
    checkpoint === undefined ? (state) => versionNamed(state, version) : versionWithId(checkpoint.artifactId),
  )

/** Stores content in a project, where its MD5 finds it. */
export const storeContent =
  (ports: CheckpointPorts) =>
  async (project_id: string, content: Uint8Array, cause: Cause): Promise<string> => {
    const md5 = md5Of(content).digest('hex')
    const digest = md5Digest(md5)
    const file = {
      project_id,
      digest,
      blob: await ports.blobs.put(content),
      size: content.length,
      wb_user_id: cause.actor,
    }
    await storeFile(ports, { type: 'StoreFile', file })(cause)
    return md5
  }

/** Makes uploaded files the version of a checkpoint, with the aliases `step<step>` and `latest`. A repeat finds it. */
export const saveCheckpointVersion =
  (ports: CheckpointPorts, collections: Collections) =>
  async (
    model: ModelCreated,
    step: number,
    files: readonly UploadedFile[],
    now: Instant,
    cause: Cause,
  ): Promise<{ readonly artifactId: string; readonly position: Position | undefined }> => {
    const place = collectionOfModel(model)
    const contents: Record<string, { digest: string; size: number }> = {}
    let size = 0
    for (const { path, md5 } of files) {
      const stored = await storedByMd5(ports, model.project_id, md5)
      if (stored === undefined)
        throw new Failure('conflict', `The file ${path} of the checkpoint was not uploaded.`)
      const digest = Buffer.from(md5, 'hex').toString('base64')
      contents[path] = { digest, size: stored.size }
      size += stored.size
    }
    const manifest = JSON.stringify({
      version: 1,
      storagePolicy: 'wandb-storage-policy-v1',
      storagePolicyConfig: { storageLayout: 'V2' },
      contents,
    })
    const blob = await ports.blobs.put(Buffer.from(manifest))
    const artifact_id = ports.ids.next()
    const digest = manifestDigest(Object.entries(contents).map(([path, { digest }]) => ({ path, digest })))
    const written = await collections.write(
      {
        type: 'CreateVersion',
        place,
        artifact_id,
        digest,
        artifactType: CHECKPOINT_TYPE,
        metadata: { 'wandb.base_model': model.base_model, step },
        files: null,
        uploaded: {
          manifest: { blob, md5: md5Of(manifest).digest('hex'), size, files: files.length },
          description: null,
          run_id: null,
          history_step: null,
          ttl_seconds: null,
          tags: [],
        },
        aliases: [`step${step}`, 'latest'],
        now,
      },
      cause,
    )
    throwIfRefused(written.refusals.get(0))
    const { byDigest, versions } = written.state
    const artifactId = versions.get(byDigest.get(digest) ?? -1)?.artifactId ?? artifact_id
    return { artifactId, position: written.readableAt }
  }

/** Deletes the versions of deleted checkpoints. A version that another checkpoint has too only loses its alias. */
const deleteVersions =
  (collections: Collections) =>
  async (
    model: ModelCreated,
    deleted: readonly { readonly step: number; readonly artifactId: string }[],
    kept: ReadonlySet<string>,
    cause: Cause,
  ): Promise<Position | undefined> => {
    const place = collectionOfModel(model)
    let last: Position | undefined
    for (const { step, artifactId } of deleted) {
      const version = (await collections.read(place)).byId.get(artifactId)
      if (version == null) continue
      const written = kept.has(artifactId)
        ? await collections.write({ type: 'RemoveAlias', place, alias: `step${step}` }, cause)
        : await collections.write(
            { type: 'DeleteVersion', place, version: versionName(version), withAliases: true },
            cause,
          )
      last = written.readableAt ?? last
    }
    return last
  }

/** Deletes checkpoints and their versions. Answers with the steps that were deleted. */
export const deleteCheckpoints =
  (models: TrainedModels, collections: Collections) =>
  async (modelId: string, steps: readonly number[], cause: Cause) => {
    const written = await models.write(
      modelId,
      { type: 'DeleteCheckpoints', steps },
      cause,
      ({ created, checkpoints }, events) => {
        const gone = new Set(events.flatMap((event) => stepsIn(event)))
        const all = [...checkpoints.values()]
        return {
          model: created!,
          deleted: all.filter(({ step }) => gone.has(step)),
          kept: new Set(all.filter(({ step }) => !gone.has(step)).map(({ artifactId }) => artifactId)),
        }
      },
    )
    throwIfRefused(written.refusals.get(0))
    const { model, deleted, kept } = written.state
    const position = await deleteVersions(collections)(model, deleted, kept, cause)
    return { steps: deleted.map(({ step }) => step), position: position ?? written.readableAt }
  }

const stepsIn = (event: TrainedModelEvent): readonly number[] =>
  event.type === 'CheckpointsDeleted' ? event.data.steps : []

/** Deletes a model, its checkpoints and their versions. Its jobs that have not ended fail. */
export const deleteModel =
  (models: TrainedModels, collections: Collections) =>
  async (modelId: string, now: Instant, cause: Cause) => {
    const written = await models.write(
      modelId,
      { type: 'DeleteModel', now },
      cause,
      ({ created, checkpoints }) => ({ model: created!, deleted: [...checkpoints.values()] }),
    )
    throwIfRefused(written.refusals.get(0))
    const { model, deleted } = written.state
    const position = await deleteVersions(collections)(model, deleted, new Set(), cause)
    return { deleted: deleted.length, position: position ?? written.readableAt }
  }
