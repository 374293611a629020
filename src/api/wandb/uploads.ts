import type * as t from 'io-ts'
import { versionMetadata } from '../../domain/artifacts/content.js'
import type { ArtifactDrafted } from '../../domain/artifacts/draft.js'
import { alias as aliasCodec, artifactType, tag as tagCodec } from '../../domain/artifacts/events.js'
import { isFilePath, PATH_RULE } from '../../domain/files/path.js'
import { hexOfMd5 } from '../../domain/artifacts/manifest.js'
import { commitDraft, draftArtifact, nameManifest } from '../../application/artifacts/uploads.js'
import { giveClientId } from '../../application/artifacts/client-ids.js'
import { Failure } from '../../application/failure.js'
import type { Codec } from '../../kernel/codec/codec.js'
import { decode } from '../../kernel/codec/codec.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { inChunks } from '../../kernel/in-chunks.js'
import { addressable, id as idCodec, projectNameOf } from '../../kernel/ids.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { deeperThan, MAX_DEPTH } from '../../kernel/json/measure.js'
import { parseJson } from '../../kernel/json/parse.js'
import { MAX_PAGE, projectToWrite, type Caller } from './caller.js'
import { artifactWithId, draftOf, findById, findNamed, placeOfId, type ArtifactPlace } from './artifacts.js'
import {
  completeDirectUpload,
  uploadOf,
  type CompleteUploadInput,
  type UploadPartInput,
} from './direct-uploads.js'
import { idOf, partsOfId } from './ids.js'
import { changeLinks } from './link-changes.js'
import { artifactId, placeIn } from './places.js'
import { collectionName, projectOfPlace, type CollectionPlace } from '../../domain/artifacts/place.js'
import * as E from 'fp-ts/lib/Either.js'

interface Named {
  readonly alias: string
}

export interface TagInput {
  readonly tagName: string
}

export interface CreateArtifactInput {
  readonly entityName: string
  readonly projectName: string
  readonly runName?: string | null
  readonly artifactTypeName: string
  readonly artifactCollectionName?: string | null
  readonly artifactCollectionNames?: readonly string[] | null
  readonly digest: string
  readonly digestAlgorithm: string
  readonly description?: string | null
  readonly aliases?: readonly Named[] | null
  readonly tags?: readonly TagInput[] | null
  readonly metadata?: string | null
  readonly ttlDurationSeconds?: number | null
  readonly historyStep?: number | null
  readonly distributedID?: string | null
  readonly clientID?: string | null
}

const MD5_HEX = /^[0-9a-f]{32}$/
const MOST_ALIASES = 32
/** What clients send for "as the project has it". */
const INHERITED_TTL = -1

export const createArtifact = async (caller: Caller, input: CreateArtifactInput) => {
  const { services, cause } = caller
  if (input.distributedID != null)
    throw new Failure(
      'bad-request',
      'Distributed artifacts are not supported: log the artifact from one process.',
    )
  if (input.digestAlgorithm !== 'MANIFEST_MD5' || !MD5_HEX.test(input.digest))
    throw new Failure('bad-request', 'input.digest should be an MD5 in hexadecimal.')
  const collection = input.artifactCollectionName ?? input.artifactCollectionNames?.[0] ?? ''
  const type = checked(artifactType, input.artifactTypeName, 'artifactTypeName')
  const aliases = (input.aliases ?? []).map(({ alias }) => checkedAlias(alias))
  if (aliases.length > MOST_ALIASES)
    throw new Failure('bad-request', `input.aliases should have at most ${MOST_ALIASES} items.`)
  const tags = checkedTags(input.tags)
  const metadata = metadataIn(input.metadata) ?? {}
  const run_id = input.runName == null ? null : checked(idCodec, input.runName, 'runName')
  const client_id = input.clientID == null ? null : checked(idCodec, input.clientID, 'clientID')
  const project_id = await projectToWrite(caller, { name: input.projectName, entityName: input.entityName })
  const place = placeIn(project_id, collection)
  if (place === undefined || !addressable(collectionName).is(collection))
    throw new Failure(
      'bad-request',
      'input.artifactCollectionName should have 1 to 128 letters, digits, dots, underscores or hyphens, and not be . or ...',
    )
  if (place.project_id === null)
    throw new Failure(
      'bad-request',
      'A registry has no artifacts of its own: log it to a project, and link it.',
    )
  const draft: ArtifactDrafted = {
    project_id,
    artifact_id: services.ids.next(),
    collection,
    type,
    digest: input.digest,
    metadata,
    aliases,
    tags,
    description: input.description ?? null,
    run_id,
    history_step: input.historyStep ?? null,
    ttl_seconds: input.ttlDurationSeconds === INHERITED_TTL ? null : (input.ttlDurationSeconds ?? null),
    drafted_at: instantOf(services.clock.now()),
  }
  const made = await draftArtifact(services, caller.collections)(place, draft, cause)
  caller.wrote(project_id, made.position)
  const { artifactId: artifact } = made
  if (client_id !== null)
    await giveClientId(services, { project_id, collection, artifact_id: artifact, client_id }, cause)
  if (made.isCommitted && tags.length > 0)
    await changeLinks(caller, { place, artifact }, { tagsToAdd: tags, tagsToDelete: [] })
  return {
    artifact: made.isCommitted
      ? await artifactWithId(caller, artifactId(place, artifact))
      : draftOf(caller, { place, artifact }),
  }
}

/** A value that the domain takes. @throws Failure that names the field */
const checked = <A>(codec: Codec<A>, value: unknown, field: string): A => {
  const decoded = decode(codec)(value)
  if (E.isRight(decoded)) return decoded.right
  throw new Failure('bad-request', `input.${field}: ${decoded.left[0]?.msg ?? 'is not valid'}.`)
}

/** Of JSON text; undefined where the client says nothing. */
export const metadataIn = (text: string | null | undefined): JsonObject | undefined => {
  if (text == null) return undefined
  const metadata = parsedMetadata(text)
  if (deeperThan(metadata, MAX_DEPTH))
    throw new Failure('bad-request', `input.metadata should have at most ${MAX_DEPTH} levels of nesting.`)
  return checked(versionMetadata, metadata, 'metadata')
}

const parsedMetadata = (text: string): Json => {
  try {
    return parseJson(text)
  } catch {
    throw new Failure('bad-request', 'input.metadata should be JSON text of an object.')
  }
}

export const checkedTags = (tags: readonly TagInput[] | null | undefined): readonly string[] =>
  (tags ?? []).map(({ tagName }) => checked(addressable(tagCodec), tagName, 'tags'))

export const checkedAlias = (alias: string): t.TypeOf<typeof aliasCodec> =>
  checked(addressable(aliasCodec), alias, 'aliases')

/** What an id names, ready to be written to. */
export const placeToWrite = async (caller: Caller, id: string): Promise<ArtifactPlace> => {
  const named = placeOfId(caller, id)
  if (named === undefined) throw new Failure('not-found', 'Artifact not found.')
  const project = projectOfPlace(named.place)
  await projectToWrite(caller, { name: projectNameOf(project), entityName: named.place.team })
  return named
}

/** A draft that an id names: drafts are in projects, never in registries. */
const draftToWrite = async (caller: Caller, id: string) => {
  const { place, artifact } = await placeToWrite(caller, id)
  if (place.project_id === null) throw new Failure('not-found', 'Artifact not found.')
  return { place, project: place.project_id, artifact }
}

export interface CreateManifestInput {
  readonly artifactID: string
  readonly baseArtifactID?: string | null
  readonly name: string
  /** The MD5 of the document in base64, '' if there is none yet. */
  readonly digest: string
  readonly type?: string | null
}

/** The version that an incremental artifact adds to: the newest of its collection, unless one is named; null for its first. */
const baseOf = async (
  caller: Caller,
  place: CollectionPlace,
  project: string,
  named: string | null | undefined,
): Promise<string | null> => {
  if (named == null || named === '') {
    const newest = await findNamed(caller, project, place.collection)
    return newest?.version.known.artifactId ?? null
  }
  const base = placeOfId(caller, named)
  const found = base && (await findById(caller, base))
  if (found === undefined || found.place.collection !== place.collection)
    throw new Failure('bad-request', 'input.baseArtifactID should be a version of the same collection.')
  return found.version.known.artifactId
}

export const createArtifactManifest = async (caller: Caller, input: CreateManifestInput) => {
  const isIncremental = input.type === 'INCREMENTAL'
  if (input.type != null && input.type !== 'FULL' && !isIncremental)
    throw new Failure(
      'bad-request',
      `Manifests of the type ${input.type} are not supported: log the artifact from one process.`,
    )
  const { place, project, artifact } = await draftToWrite(caller, input.artifactID)
  const md5 = input.digest === '' ? undefined : hexOfMd5(input.digest)
  if (input.digest !== '' && md5 === undefined)
    throw new Failure('bad-request', 'input.digest should be an MD5 in base64.')
  if (md5 !== undefined) {
    const base_id = isIncremental ? await baseOf(caller, place, project, input.baseArtifactID) : null
    const manifest = { md5, base_id }
    caller.wrote(project, await nameManifest(caller.services)(project, artifact, manifest, caller.cause))
  }
  return {
    artifactManifest: {
      id: idOf('Manifest', input.artifactID, input.name),
      digest: input.digest,
      file: {
        id: idOf('File', project, artifact, input.name),
        name: input.name,
        displayName: input.name,
        directUrl: '',
        uploadUrl: md5 === undefined ? null : caller.links.store(project, md5),
        uploadHeaders: [],
      },
    },
  }
}

export interface UpdateManifestInput {
  readonly artifactManifestID: string
  readonly digest?: string | null
  readonly baseArtifactID?: string | null
}

/** Names the document of a manifest that was created without one, as clients do for incremental artifacts alone. */
export const updateArtifactManifest = (
  caller: Caller,
  { artifactManifestID, digest, baseArtifactID = null }: UpdateManifestInput,
) => {
  const [artifactID, name] = partsOfId('Manifest', artifactManifestID) ?? []
  if (artifactID === undefined || name === undefined) throw new Failure('not-found', 'Manifest not found.')
  const input = { artifactID, name, digest: digest ?? '', baseArtifactID, type: 'INCREMENTAL' }
  return createArtifactManifest(caller, input)
}

export interface CreateArtifactFilesInput {
  readonly artifactFiles: readonly {
    readonly artifactID: string
    readonly name: string
    readonly md5: string
    /** Of a large file. */
    readonly uploadPartsInput?: readonly UploadPartInput[] | null
  }[]
}

const AT_ONCE = 16

export const createArtifactFiles = async (caller: Caller, { artifactFiles }: CreateArtifactFilesInput) => {
  if (artifactFiles.length > MAX_PAGE)
    throw new Failure('bad-request', `input.artifactFiles should have at most ${MAX_PAGE} items.`)
  caller.budget.spend('items', artifactFiles.length)
  const projects = new Map<string, string>()
  for (const id of new Set(artifactFiles.map(({ artifactID }) => artifactID)))
    projects.set(id, (await draftToWrite(caller, id)).project)
  const edges = await inChunks(artifactFiles, AT_ONCE, async (file) => {
    const { artifactID, name, md5: base64, uploadPartsInput } = file
    const parts = uploadPartsInput ?? []
    caller.budget.spend('items', parts.length)
    const md5 = hexOfMd5(base64)
    if (md5 === undefined)
      throw new Failure('bad-request', `The md5 of the file ${name} should be in base64.`)
    if (!isFilePath(name))
      throw new Failure('bad-request', `${JSON.stringify(name)} is not valid: ${PATH_RULE}.`)
    const project = projects.get(artifactID)!
    const node = {
      id: idOf('File', project, name, base64),
      name,
      displayName: name,
      directUrl: '',
      storagePath: md5,
      artifact: { id: artifactID },
      ...(await uploadOf(caller, project, md5, parts)),
    }
    return { node, cursor: name }
  })
  return { files: { edges, pageInfo: { hasNextPage: false, endCursor: null } } }
}

export const completeUpload = async (caller: Caller, input: CompleteUploadInput) => {
  const { project } = await draftToWrite(caller, input.artifactID)
  return completeDirectUpload(caller, project, input)
}

export const commitArtifact = async (caller: Caller, { artifactID }: { readonly artifactID: string }) => {
  const { place, project, artifact } = await draftToWrite(caller, artifactID)
  const now = instantOf(caller.services.clock.now())
  const committed = await commitDraft(caller.services, caller.collections)(place, artifact, now, caller.cause)
  caller.wrote(project, committed.position)
  return { artifact: artifactWithId(caller, artifactId(place, committed.artifactId)) }
}
