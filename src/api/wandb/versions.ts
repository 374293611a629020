import { projectOfPlace, type CollectionPlace } from '../../domain/artifacts/place.js'
import { versionName } from '../../domain/artifacts/version-name.js'
import { throwIfRefused } from '../../application/access/rights.js'
import { Failure } from '../../application/failure.js'
import { artifactOf, artifactWithId, findById, linksOf, type ArtifactPlace } from './artifacts.js'
import { projectToWrite, type Caller } from './caller.js'
import { changeLinks } from './link-changes.js'
import { placeIn } from './places.js'
import { checkedAlias, checkedTags, metadataIn, placeToWrite } from './uploads.js'

interface AliasInput {
  readonly entityName?: string | null
  readonly projectName?: string | null
  readonly artifactCollectionName: string
  readonly alias: string
}

export interface AliasesInput {
  readonly artifactID: string
  readonly aliases: readonly AliasInput[]
}

export const notFound = () => new Failure('not-found', 'Artifact not found.')

/**
 * The version with an id, of a project that the caller may write to. The id may be one that was merged into it.
 *
 * @throws Failure where there is none
 */
export const findToWrite = async (caller: Caller, id: string) => {
  const { place, ...asked } = await placeToWrite(caller, id)
  const found = await findById(caller, { place, ...asked })
  if (found === undefined) throw notFound()
  return { named: { place, artifact: found.version.known.artifactId }, found }
}

/** The collection that an alias belongs to, and the version's name there. */
const aliasPlace = async (caller: Caller, { artifact }: ArtifactPlace, input: AliasInput) => {
  const names = { name: input.projectName ?? null, entityName: input.entityName ?? null }
  const place = placeIn(await projectToWrite(caller, names), input.artifactCollectionName)
  if (place === undefined) throw new Failure('not-found', 'Collection not found.')
  const version = (await caller.collections.read(place)).byId.get(artifact)
  return { place, version: version == null ? undefined : versionName(version) }
}

export const writerOf = ({ collections }: Caller, place: CollectionPlace) =>
  place.registry === null ? collections.write : collections.writeRegistered

export const addAliases = async (caller: Caller, { artifactID, aliases }: AliasesInput) => {
  const { named } = await findToWrite(caller, artifactID)
  for (const input of aliases) {
    const alias = checkedAlias(input.alias)
    const { place, version } = await aliasPlace(caller, named, input)
    if (version === undefined) throw notFound()
    const written = await writerOf(caller, place)({ type: 'SetAlias', place, version, alias }, caller.cause)
    throwIfRefused(written.refusals.get(0))
    caller.wrote(projectOfPlace(place), written.readableAt)
  }
  return { success: true }
}

export const deleteAliases = async (caller: Caller, { artifactID, aliases }: AliasesInput) => {
  const { named } = await findToWrite(caller, artifactID)
  for (const input of aliases) {
    const { place, version } = await aliasPlace(caller, named, input)
    const alias = input.alias
    const points = (await caller.collections.read(place)).aliases.get(alias)
    // It may have moved to another version meanwhile.
    if (points == null || version !== versionName(points)) continue
    const written = await writerOf(caller, place)({ type: 'RemoveAlias', place, alias }, caller.cause)
    caller.wrote(projectOfPlace(place), written.readableAt)
  }
  return { success: true }
}

interface TagInput {
  readonly tagName: string
}

export interface UpdateArtifactInput {
  readonly artifactID: string
  readonly description?: string | null
  readonly metadata?: string | null
  readonly ttlDurationSeconds?: number | null
  readonly tagsToAdd?: readonly TagInput[] | null
  readonly tagsToDelete?: readonly TagInput[] | null
}

export const updateArtifact = async (caller: Caller, input: UpdateArtifactInput) => {
  const metadata = metadataIn(input.metadata) ?? null
  const [added, removed] = [checkedTags(input.tagsToAdd), checkedTags(input.tagsToDelete)]
  const { named, found } = await findToWrite(caller, input.artifactID)
  const { place } = named
  const version = versionName(found.version.known.version)
  const ttl = input.ttlDurationSeconds ?? null
  const known = found.version.described
  const described = { metadata, description: input.description ?? null, ttl_seconds: ttl === -1 ? null : ttl }
  const commands = [
    { type: 'DescribeVersion', place, version, known, ...described } as const,
    ...added.map((tag) => ({ type: 'AddTag', place, version, tag }) as const),
    ...removed.map((tag) => ({ type: 'RemoveTag', place, version, tag }) as const),
  ]
  for (const command of commands) {
    const written = await caller.collections.write(command, caller.cause)
    throwIfRefused(written.refusals.get(0))
    caller.wrote(projectOfPlace(place), written.readableAt)
  }
  await changeLinks(caller, named, { described, tagsToAdd: added, tagsToDelete: removed })
  return { artifact: artifactWithId(caller, input.artifactID) }
}

export interface DeleteArtifactInput {
  readonly artifactID: string
  readonly deleteAliases?: boolean | null
}

export const deleteArtifact = async (caller: Caller, input: DeleteArtifactInput) => {
  const { named, found } = await findToWrite(caller, input.artifactID)
  const { place } = named
  const version = versionName(found.version.known.version)
  const withAliases = input.deleteAliases === true
  if (!withAliases && found.version.aliases.length > 0)
    throw new Failure(
      'conflict',
      'The artifact has aliases. Delete it with delete_aliases=True, or remove them first.',
    )
  for (const link of await linksOf(caller, place, found.version.known.artifactId)) {
    const unlinked = await caller.collections.writeRegistered(
      { type: 'UnlinkVersion', place: link.place, version: versionName(link.version.known.version) },
      caller.cause,
    )
    caller.wrote(projectOfPlace(link.place), unlinked.readableAt)
  }
  const written = await caller.collections.write(
    { type: 'DeleteVersion', place, version, withAliases },
    caller.cause,
  )
  throwIfRefused(written.refusals.get(0))
  caller.wrote(projectOfPlace(place), written.readableAt)
  return { artifact: { ...artifactOf(caller, found), state: 'DELETED' } }
}
