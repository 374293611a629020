import { projectOfPlace, type CollectionPlace } from '../../domain/artifacts/place.js'
import type { DescribeCollection } from '../../domain/artifacts/commands.js'
import { versionName } from '../../domain/artifacts/version-name.js'
import { throwIfRefused } from '../../application/access/rights.js'
import { Failure } from '../../application/failure.js'
import { projectNameOf } from '../../kernel/ids.js'
import { projectToWrite, type Caller } from './caller.js'
import { collectionOf, collectionOfId } from './collections.js'
import { artifactId, placeIn } from './places.js'
import { checkedTags, type TagInput } from './uploads.js'
import { deleteArtifact, writerOf } from './versions.js'

const notFound = () => new Failure('not-found', 'Collection not found.')

/** The collection with an id, ready to be written to. @throws Failure where there is none */
const collectionToWrite = async (caller: Caller, id: string): Promise<CollectionPlace> => {
  const place = collectionOfId(caller, id)
  if (place === undefined) throw notFound()
  await projectToWrite(caller, { name: projectNameOf(projectOfPlace(place)), entityName: place.team })
  return place
}

const describe = async (caller: Caller, command: DescribeCollection): Promise<void> => {
  const written = await writerOf(caller, command.place)(command, caller.cause)
  throwIfRefused(written.refusals.get(0))
  caller.wrote(projectOfPlace(command.place), written.readableAt)
}

export interface UpdateCollectionInput {
  readonly artifactSequenceID?: string
  readonly artifactPortfolioID?: string
  readonly name?: string | null
  readonly description?: string | null
}

const MAX_DESCRIPTION = 16_384

export const updateCollection = async (caller: Caller, input: UpdateCollectionInput) => {
  const place = await collectionToWrite(caller, input.artifactSequenceID ?? input.artifactPortfolioID ?? '')
  const { name, description } = input
  if (name != null && name !== place.collection)
    throw new Failure(
      'bad-request',
      `The collection ${place.collection} cannot be renamed: its versions are found by its name. Log or link them under the other name.`,
    )
  if ((description?.length ?? 0) > MAX_DESCRIPTION)
    throw new Failure('bad-request', `input.description should have at most ${MAX_DESCRIPTION} characters.`)
  await describe(caller, { type: 'DescribeCollection', place, description })
  return { artifactCollection: collectionOf(caller, place) }
}

export interface CollectionTagsInput {
  readonly entityName: string
  readonly projectName: string
  readonly artifactCollectionName: string
  readonly tags: readonly TagInput[]
}

export const tagCollection = async (
  caller: Caller,
  input: CollectionTagsInput,
  change: 'tagsToAdd' | 'tagsToDelete',
) => {
  const tags = checkedTags(input.tags)
  const project = await projectToWrite(caller, { name: input.projectName, entityName: input.entityName })
  const place = placeIn(project, input.artifactCollectionName)
  if (place === undefined) throw notFound()
  await describe(caller, { type: 'DescribeCollection', place, [change]: tags })
  return { success: true, tags: tags.map((name) => ({ id: name, name })) }
}

/** Deletes the versions of a collection of a project, or unlinks those of a registry. */
export const deleteCollection = async (caller: Caller, id: string) => {
  const place = await collectionToWrite(caller, id)
  const { versions, tags } = await caller.collections.read(place)
  const live = [...versions.values()].filter(({ gone }) => !gone)
  if (live.length === 0) throw notFound()
  const shown = await collectionOf(caller, place)
  await describe(caller, { type: 'DescribeCollection', place, description: null, tagsToDelete: tags })
  for (const known of live)
    if (place.registry === null)
      await deleteArtifact(caller, { artifactID: artifactId(place, known.artifactId), deleteAliases: true })
    else {
      const unlink = { type: 'UnlinkVersion', place, version: versionName(known.version) } as const
      const written = await caller.collections.writeRegistered(unlink, caller.cause)
      caller.wrote(projectOfPlace(place), written.readableAt)
    }
  return { artifactCollection: { ...shown, state: 'DELETED' } }
}
