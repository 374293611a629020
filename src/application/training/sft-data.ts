import type { VersionCreated } from '../../domain/artifacts/events.js'
import { collectionName } from '../../domain/artifacts/place.js'
import { versionNamed } from '../../domain/artifacts/state.js'
import { conversationIn, dataAddressIn, linesOf, type DataAddress } from '../../domain/training/sft-data.js'
import { entityOf } from '../../kernel/ids.js'
import { BlobMissing } from '../../kernel/ports/blobs.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import type { Collections } from '../artifacts/collections.js'
import { findVersion } from '../artifacts/find-version.js'
import { Failure, invalidField } from '../failure.js'
import { filesIn, type CheckpointFile } from './leases.js'

/** The names of the file that has the data, in the order of preference. */
const FILES = ['train.jsonl', 'trajectories.jsonl']
/** Workers read the data themselves; the engine has them in memory as tokens. */
const MAX_BYTES = 256 * 1024 * 1024
const MAX_ENGINE_BYTES = 8 * 1024 * 1024
const MAX_ENGINE_STEPS = 100_000
const MOST_NAMED = 5
const FIELD = ['training_data_url']

interface TrainingData {
  /** The blob with the lines. */
  readonly blob: string
  readonly conversations: number
}

interface DataTools {
  readonly isBuiltIn: boolean
  readonly collections: Collections
  readonly canSee: (project: string) => boolean
}

/**
 * Finds the data of a fine-tuning job in an artifact and checks each line.
 *
 * @throws Failure that names the field, and the first lines that are wrong
 */
export const findTrainingData = async (
  ports: Pick<Ports, 'eventStore' | 'blobs'>,
  { collections, canSee, isBuiltIn }: DataTools,
  url: string,
): Promise<TrainingData> => {
  const address = dataAddressIn(url)
  if (address === undefined || !collectionName.is(address.collection))
    throw invalidField(FIELD, 'value_error', 'Input should be wandb-artifact:///entity/project/name:version')
  const version = canSee(address.project) ? await versionAt(ports, collections, address) : undefined
  if (version === undefined)
    throw new Failure('not-found', `There is no artifact ${url}, or the API key has no access to its team.`, {
      param: 'training_data_url',
    })
  const files = await filesIn(ports, address.project, version)
  const file = FILES.map((name) => files.find(({ path }) => path === name)).find((one) => one !== undefined)
  if (file === undefined)
    throw invalidField(FIELD, 'value_error', `The artifact has no file ${FILES.join(' or ')}`)
  return checkedData(ports, file, { isBuiltIn, field: FIELD })
}

interface DataFileRules {
  /** Whether the engine of the service trains on it. */
  readonly isBuiltIn: boolean
  readonly field: readonly string[]
}

/** @throws Failure that names the field, and the first lines that are not conversations */
export const checkedData = async (
  { blobs }: Pick<Ports, 'blobs'>,
  { path, blob, size }: CheckpointFile,
  { isBuiltIn, field }: DataFileRules,
): Promise<TrainingData> => {
  const most = isBuiltIn ? MAX_ENGINE_BYTES : MAX_BYTES
  if (size > most)
    throw invalidField(field, 'value_error', `The file ${path} should have at most ${most} bytes`)
  const content = await blobs.get(blob)
  if (content === undefined) throw new BlobMissing(blob)
  return { blob, conversations: await countConversations(content, path, field) }
}

/** The number of gradient steps. @throws Failure for more than the engine makes in one job */
export const stepsOf = (
  conversations: number,
  {
    epochs,
    batchSize,
    isBuiltIn,
  }: { readonly epochs: number; readonly batchSize: number; readonly isBuiltIn: boolean },
): number => {
  const steps = epochs * Math.ceil(conversations / batchSize)
  if (isBuiltIn && steps > MAX_ENGINE_STEPS)
    throw new Failure(
      'too-large',
      `${conversations} conversations in batches of ${batchSize} and ${epochs} epochs make ${steps} steps; the engine makes at most ${MAX_ENGINE_STEPS} in one job.`,
    )
  return steps
}

const versionAt = async (
  { eventStore }: Pick<Ports, 'eventStore'>,
  collections: Collections,
  { project, collection, version }: DataAddress,
): Promise<VersionCreated | undefined> => {
  const place = { team: entityOf(project), collection, project_id: project, registry: null }
  const stored = await findVersion({ eventStore }, collections, place, (state) =>
    versionNamed(state, version),
  )
  return stored?.event.data as VersionCreated | undefined
}

const countConversations = async (
  content: Uint8Array,
  path: string,
  field: readonly string[],
): Promise<number> => {
  const pause = yielding()
  const wrong: string[] = []
  const lines = linesOf(content)
  for (const { number, text } of lines) {
    const read = conversationIn(text)
    if (typeof read === 'string') wrong.push(`line ${number} ${read}`)
    if (wrong.length === MOST_NAMED) break
    await pause()
  }
  if (wrong.length > 0)
    throw invalidField(field, 'value_error', `The file ${path} is not valid: ${wrong.join('; ')}`)
  if (lines.length === 0) throw invalidField(field, 'value_error', `The file ${path} has no lines`)
  return lines.length
}
