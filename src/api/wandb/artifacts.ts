import { projectOfPlace, REGISTRY_PREFIX, type CollectionPlace } from '../../domain/artifacts/place.js'
import { versionNamed, type CollectionState, type KnownVersion } from '../../domain/artifacts/state.js'
import { createdOf, type StoredVersion } from '../../application/artifacts/stored-versions.js'
import { findVersion, versionWithId } from '../../application/artifacts/find-version.js'
import { readDraft } from '../../application/artifacts/uploads.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { linksTo } from '../../projections/artifacts/queries.js'
import { artifactFiles, manifestOf, type FilesAsked } from './artifact-files.js'
import { typeOf } from './artifact-types.js'
import { canSeeProject, caughtUp, connectionOf, type Caller } from './caller.js'
import { idOf, partsOfId } from './ids.js'
import { runsThatUsed } from './lineage.js'
import { artifactId, placeIn } from './places.js'

/** A version by `collection`, `collection:alias` or `collection:vN`, of a project or a registry. */
const splitName = (named: string): readonly [string, string] => {
  const colon = named.indexOf(':')
  return colon < 0 ? [named, 'latest'] : [named.slice(0, colon), named.slice(colon + 1)]
}

export interface PlacedVersion {
  readonly place: CollectionPlace
  readonly version: StoredVersion
}

const findIn = async (
  caller: Caller,
  place: CollectionPlace,
  choose: (state: CollectionState) => KnownVersion | undefined,
): Promise<PlacedVersion | undefined> => {
  const version = await findVersion(caller.services, caller.collections, place, choose)
  return version && { place, version }
}

export const findNamed = async (
  caller: Caller,
  project: string,
  named: string,
): Promise<PlacedVersion | undefined> => {
  const [collection, version] = splitName(named)
  const place = placeIn(project, collection)
  return place && findIn(caller, place, (state) => versionNamed(state, version))
}

/** The linked version, or the version itself. Undefined if it belongs to a team that the caller cannot access. */
export const sourceOf = async (caller: Caller, found: PlacedVersion): Promise<PlacedVersion | undefined> => {
  const { source } = found.version.known
  if (source === null) return found
  if (!canSeeProject(caller, source.project_id)) return undefined
  const place = placeIn(source.project_id, source.collection)
  return place && findIn(caller, place, versionWithId(source.artifact_id))
}

export const artifactNamed = async (caller: Caller, project: string, named: string) => {
  const found = await findNamed(caller, project, named)
  const source = found && (await sourceOf(caller, found))
  return source === undefined ? null : artifactOf(caller, source)
}

export const membershipNamed = async (caller: Caller, project: string, named: string) => {
  const found = await findNamed(caller, project, named)
  return found === undefined ? null : membershipOf(caller, found)
}

export interface ArtifactPlace {
  readonly place: CollectionPlace
  readonly artifact: string
}

/** What an artifact's id names; undefined if the caller has no access, or it is no id. */
export const placeOfId = (caller: Caller, id: string): ArtifactPlace | undefined => {
  const [team, project, collection, artifact] = partsOfId('Artifact', id) ?? []
  if (team === undefined || project === undefined || collection === undefined || artifact === undefined)
    return undefined
  const place = placeIn(`${team}/${project}`, collection)
  return place !== undefined && canSeeProject(caller, `${team}/${project}`) ? { place, artifact } : undefined
}

/** The version with an id; undefined for a draft. */
export const findById = (
  caller: Caller,
  { place, artifact }: ArtifactPlace,
): Promise<PlacedVersion | undefined> => findIn(caller, place, versionWithId(artifact))

/** A version or a draft by its id; null if there is none. */
export const artifactWithId = async (caller: Caller, id: string) => {
  const named = placeOfId(caller, id)
  if (named === undefined) return null
  const found = await findById(caller, named)
  if (found !== undefined) return artifactOf(caller, found)
  const wasVersion = (await caller.collections.read(named.place)).byId.has(named.artifact)
  const draft =
    wasVersion || named.place.project_id === null
      ? undefined
      : await readDraft(caller.services, named.place.project_id, named.artifact)
  return draft === undefined ? null : draftOf(caller, named)
}

/** An artifact that is being uploaded. */
export const draftOf = (caller: Caller, { place, artifact }: ArtifactPlace) => ({
  ...commonOf(caller, place, artifact),
  artifactType: async () => {
    const draft = await readDraft(caller.services, place.project_id!, artifact)
    return typeOf(caller, projectOfPlace(place), draft?.drafted.type ?? null)
  },
  versionIndex: null,
  state: 'PENDING',
  size: 0,
  digest: '',
  fileCount: 0,
  createdAt: instantOf(caller.services.clock.now()),
  tags: [],
  aliases: [],
  ttlDurationSeconds: -1,
  metadata: '{}',
})

const commonOf = (caller: Caller, place: CollectionPlace, artifact: string) => ({
  id: artifactId(place, artifact),
  artifactSequence: () => caller.nodes.collectionAt(caller, place),
  ttlIsInherited: true,
  digestAlgorithm: 'MANIFEST_MD5',
  commitHash: artifact,
})

export const artifactOf = (caller: Caller, { place, version }: PlacedVersion) => {
  const { known, described } = version
  const created = createdOf(version)
  const project = projectOfPlace(place)
  const { manifest } = created
  return {
    ...commonOf(caller, place, known.artifactId),
    versionIndex: known.version,
    artifactType: () => typeOf(caller, project, created.type),
    description: described.description,
    metadata: JSON.stringify(described.metadata),
    ttlDurationSeconds: described.ttl_seconds ?? -1,
    tags: known.tags.map((name) => ({ id: name, name })),
    historyStep: created.history_step ?? null,
    state: 'COMMITTED',
    size: manifest?.size ?? 0,
    fileCount: manifest?.files ?? 0,
    digest: created.digest,
    createdAt: created.created_at,
    updatedAt: created.created_at,
    aliases: async () => {
      const places = [{ place, version }, ...(await linksOf(caller, place, known.artifactId))]
      return places.flatMap((one) => aliasesOf(caller, one.place, one.version))
    },
    currentManifest: manifest && manifestOf(caller, project, known.artifactId, manifest),
    files: (asked: FilesAsked) => artifactFiles(caller, project, manifest, asked),
    filesByManifestEntries: ({
      entries,
    }: {
      readonly entries?: readonly { readonly name: string }[] | null
    }) => artifactFiles(caller, project, manifest, { names: (entries ?? []).map(({ name }) => name) }),
    createdBy: async () =>
      created.run_id == null ? null : caller.nodes.run(caller, project, created.run_id),
    usedBy: () => runsThatUsed(caller, place, known.artifactId),
    artifactMemberships: async () => {
      const places = [{ place, version }, ...(await linksOf(caller, place, known.artifactId))]
      return connectionOf(
        caller,
        places,
        {},
        (one) => collectionId(one.place),
        (one) => membershipOf(caller, one),
      )
    },
  }
}

const aliasesOf = (caller: Caller, place: CollectionPlace, { aliases }: StoredVersion) =>
  aliases.map((alias) => ({
    id: alias,
    alias,
    artifactCollection: () => caller.nodes.collectionAt(caller, place),
  }))

const membershipOf = (caller: Caller, found: PlacedVersion) => {
  const { place, version } = found
  return {
    id: idOf('Membership', projectOfPlace(place), place.collection, version.known.artifactId),
    versionIndex: version.known.version,
    createdAt: instantOf(version.event.recordedAt),
    aliases: aliasesOf(caller, place, version),
    artifactCollection: () => caller.nodes.collectionAt(caller, place),
    artifact: async () => {
      const source = await sourceOf(caller, found)
      return source === undefined ? null : artifactOf(caller, source)
    },
    files: async (asked: FilesAsked) => {
      const source = await sourceOf(caller, found)
      if (source === undefined) return null
      return artifactFiles(caller, projectOfPlace(source.place), createdOf(source.version).manifest, asked)
    },
  }
}

export const collectionId = (place: CollectionPlace): string =>
  idOf('Collection', projectOfPlace(place), place.collection)

/** The links of registries to a version. */
export const linksOf = async (
  caller: Caller,
  place: CollectionPlace,
  artifact: string,
): Promise<readonly PlacedVersion[]> => {
  const reader = await caughtUp(caller, projectOfPlace(place))
  const links = await linksTo(reader)(`${place.team}/${REGISTRY_PREFIX}`, artifact)
  const found = await Promise.all(
    links.map(async ({ project_id, collection }) => {
      const of = placeIn(project_id, collection)
      return of && (await findIn(caller, of, versionWithId(artifact)))
    }),
  )
  return found.filter((one) => one !== undefined)
}
