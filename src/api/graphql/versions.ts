import { registryAdministrator } from '../../domain/access/roles.js'
import { registryStream, type VersionCreated } from '../../domain/artifacts/events.js'
import { registryDecider } from '../../domain/artifacts/registry.js'
import { collectionStream, type CollectionPlace } from '../../domain/artifacts/place.js'
import { versionName } from '../../domain/artifacts/version-name.js'
import { requireRole, throwIfRefused } from '../../application/access/rights.js'
import { Failure } from '../../application/failure.js'
import { executeOnFold } from '../../kernel/fold-cache.js'
import { projectIdOf, projectToWrite, type Caller, type ProjectNames } from './caller.js'
import {
  artifactOf,
  artifactWithId,
  collectionOfId,
  findById,
  linksOf,
  type PlacedVersion,
  membershipNamed,
  type ArtifactPlace,
} from './collections.js'
import { placeIn, registryIn } from './places.js'
import { projectOfPlace } from '../../domain/artifacts/place.js'
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

const notFound = () => new Failure('not-found', 'Artifact not found.')

const findToWrite = async (caller: Caller, id: string) => {
  const named = await placeToWrite(caller, id)
  const found = await findById(caller, named)
  if (found === undefined) throw notFound()
  return { named, found }
}

/** The collection that an alias belongs to, and the version's name there. */
const aliasPlace = async (caller: Caller, { artifact }: ArtifactPlace, input: AliasInput) => {
  const names = { name: input.projectName ?? null, entityName: input.entityName ?? null }
  const place = placeIn(await projectToWrite(caller, names), input.artifactCollectionName)
  if (place === undefined) throw new Failure('not-found', 'Collection not found.')
  const version = await caller.collections.stateOf(collectionStream(place), ({ state }) =>
    state.byId.get(artifact),
  )
  return { place, version: version == null ? undefined : versionName(version) }
}

const writerOf = ({ collections }: Caller, place: CollectionPlace) =>
  place.registry === null ? collections.write : collections.writeRegistered

export const addAliases = async (caller: Caller, { artifactID, aliases }: AliasesInput) => {
  const { named } = await findToWrite(caller, artifactID)
  for (const input of aliases) {
    const alias = checkedAlias(input.alias)
    const { place, version } = await aliasPlace(caller, named, input)
    if (version === undefined) throw notFound()
    const written = await writerOf(caller, place)(
      { type: 'SetAlias', place, version, alias },
      caller.cause,
      () => undefined,
    )
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
    const points = await caller.collections.stateOf(collectionStream(place), ({ state }) =>
      state.aliases.get(alias),
    )
    // It may have moved to another version meanwhile.
    if (points == null || version !== versionName(points)) continue
    const written = await writerOf(caller, place)(
      { type: 'RemoveAlias', place, alias },
      caller.cause,
      () => undefined,
    )
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
  const commands = [
    {
      type: 'DescribeVersion',
      place,
      version,
      known,
      metadata,
      description: input.description ?? null,
      ttl_seconds: ttl === -1 ? null : ttl,
    } as const,
    ...added.map((tag) => ({ type: 'AddTag', place, version, tag }) as const),
    ...removed.map((tag) => ({ type: 'RemoveTag', place, version, tag }) as const),
  ]
  for (const command of commands) {
    const written = await caller.collections.write(command, caller.cause, () => undefined)
    throwIfRefused(written.refusals.get(0))
    caller.wrote(projectOfPlace(place), written.readableAt)
  }
  if (added.length + removed.length > 0) await tagLinks(caller, found, added, removed)
  return { artifact: artifactWithId(caller, input.artifactID) }
}

/** Tags belong to the artifact: its links have them too. */
const tagLinks = async (
  caller: Caller,
  { place, version }: PlacedVersion,
  added: readonly string[],
  removed: readonly string[],
): Promise<void> => {
  for (const link of await linksOf(caller, place, version.known.artifactId)) {
    const of = { place: link.place, version: versionName(link.version.known.version) }
    for (const command of [
      ...added.map((tag) => ({ type: 'AddTag', ...of, tag }) as const),
      ...removed.map((tag) => ({ type: 'RemoveTag', ...of, tag }) as const),
    ]) {
      const written = await caller.collections.writeRegistered(command, caller.cause, () => undefined)
      caller.wrote(projectOfPlace(link.place), written.readableAt)
    }
  }
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
      () => undefined,
    )
    caller.wrote(projectOfPlace(link.place), unlinked.readableAt)
  }
  const written = await caller.collections.write(
    { type: 'DeleteVersion', place, version, withAliases },
    caller.cause,
    () => undefined,
  )
  throwIfRefused(written.refusals.get(0))
  caller.wrote(projectOfPlace(place), written.readableAt)
  return { artifact: { ...artifactOf(caller, found), state: 'DELETED' } }
}

export interface LinkArtifactInput {
  readonly artifactID?: string | null
  readonly artifactPortfolioName?: string | null
  readonly entityName?: string | null
  readonly projectName?: string | null
  readonly aliases?: readonly { readonly alias: string }[] | null
}

/** Links a version to a registry, where `latest` and the given aliases point at it. */
export const linkArtifact = async (caller: Caller, input: LinkArtifactInput) => {
  if (input.artifactID == null)
    throw new Failure('bad-request', 'input.artifactID is required: wait until the artifact is logged.')
  const aliases = ['latest', ...(input.aliases ?? []).map(({ alias }) => checkedAlias(alias))]
  const { found } = await findToWrite(caller, input.artifactID)
  const names: ProjectNames = { name: input.projectName ?? null, entityName: input.entityName ?? null }
  const project = projectIdOf(caller.principal, names)
  const registry = registryIn(project)
  const place = placeIn(project, input.artifactPortfolioName ?? '')
  if (registry === undefined)
    throw new Failure(
      'bad-request',
      'An artifact is linked to a registry: use the path wandb-registry-<registry>/<collection>.',
    )
  if (place === undefined) throw new Failure('not-found', 'Collection not found.')
  requireRole(caller.services.access, caller.principal, place.team, 'member')
  const isThere = await caller.registries(registryStream(place.team), ({ state }) => state.ids.has(registry))
  if (!isThere)
    throw new Failure(
      'not-found',
      `There is no registry named ${registry} in team ${place.team}. A user with the role registry_administrator can create it.`,
    )
  const { known, event, described } = found.version
  const { artifact_id, type } = event.data as unknown as VersionCreated
  const linked = await caller.collections.writeRegistered(
    {
      type: 'LinkVersion',
      place,
      link_id: null,
      source: {
        project_id: found.place.project_id!,
        collection: found.place.collection,
        version: known.version,
        artifact_id,
      },
      artifactType: type,
      metadata: described.metadata,
    },
    caller.cause,
    (before, events) => {
      for (const made of events) if (made.type === 'VersionLinked') return made.data.version
      return before.byId.get(artifact_id) ?? 0
    },
  )
  throwIfRefused(linked.refusals.get(0))
  const version = versionName(linked.state)
  let position = linked.readableAt
  for (const alias of linked.events.length > 0 ? aliases : aliases.slice(1)) {
    const written = await caller.collections.writeRegistered(
      { type: 'SetAlias', place, version, alias },
      caller.cause,
      () => undefined,
    )
    position = written.readableAt
  }
  caller.wrote(project, position)
  caller.wrote(projectOfPlace(found.place), position)
  return {
    versionIndex: linked.state,
    artifactMembership: () => membershipNamed(caller, project, `${place.collection}:${version}`),
  }
}

export interface UnlinkArtifactInput {
  readonly artifactID: string
  readonly artifactPortfolioID: string
}

export const unlinkArtifact = async (caller: Caller, input: UnlinkArtifactInput) => {
  const { named } = await findToWrite(caller, input.artifactID)
  const place = collectionOfId(caller, input.artifactPortfolioID)
  if (place?.registry == null) throw new Failure('not-found', 'Collection not found.')
  const version = await caller.collections.stateOf(collectionStream(place), ({ state }) =>
    state.byId.get(named.artifact),
  )
  if (version == null) throw notFound()
  const written = await caller.collections.writeRegistered(
    { type: 'UnlinkVersion', place, version: versionName(version) },
    caller.cause,
    () => undefined,
  )
  throwIfRefused(written.refusals.get(0))
  caller.wrote(projectOfPlace(place), written.readableAt)
  return { success: true }
}

/** A registry, which clients make as a project. */
export const upsertRegistry = async (caller: Caller, project: string, registry: string): Promise<boolean> => {
  const { services, principal, cause } = caller
  const [team] = project.split('/') as [string]
  requireRole(services.access, principal, team, registryAdministrator(registry))
  const stream = registryStream(team)
  const known = await caller.registries(stream, ({ state }) => state.ids.has(registry))
  if (known) return false
  const command = { type: 'CreateRegistry', team, registry, id: services.ids.next() } as const
  const written = await executeOnFold(services)(
    caller.registries,
    registryDecider,
    stream,
    command,
    cause,
    () => undefined,
  )
  return written.position !== undefined
}
