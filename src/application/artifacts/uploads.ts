import { createHash } from 'node:crypto'
import type { VersionCreated } from '../../domain/artifacts/events.js'
import { draftDecider, draftStream, type ArtifactDrafted } from '../../domain/artifacts/draft.js'
import { entriesOf, hexOfMd5, type ManifestEntry } from '../../domain/artifacts/manifest.js'
import { LATEST } from '../../domain/artifacts/labels.js'
import type { CollectionPlace } from '../../domain/artifacts/place.js'
import type { CollectionState } from '../../domain/artifacts/state.js'
import { fileStream, md5Digest, type FileEvent } from '../../domain/files/file.js'
import { isFilePath, PATH_RULE } from '../../domain/files/path.js'
import type { Instant } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { execute, load } from '../../kernel/execute.js'
import { inChunks } from '../../kernel/in-chunks.js'
import { jsonText } from '../../kernel/json/text.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseJsonInSteps } from '../../kernel/json/parse-in-steps.js'
import { BlobMissing, directBlob } from '../../kernel/ports/blobs.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { throwIfRefused } from '../access/rights.js'
import { Failure } from '../failure.js'
import { storeFile } from '../files/files.js'
import type { Services } from '../services.js'
import type { Collections } from './collections.js'
import { findVersion, versionWithId } from './find-version.js'

type StoredFile = Pick<FileEvent['data'], 'blob' | 'size'>

const AT_ONCE = 16
const MAX_MANIFEST_BYTES = 256 * 1024 * 1024

/** Content of a project by its MD5 in hexadecimal. */
export const storedByMd5 = async (
  { eventStore }: Pick<Ports, 'eventStore'>,
  project: string,
  md5: string,
): Promise<StoredFile | undefined> => {
  const stream = fileStream(project, md5Digest(md5))
  for await (const { data } of eventStore.readStream(stream, { limit: 1 })) return data as StoredFile
  return undefined
}

/** What is known of a draft; undefined if there is none. */
export const readDraft = async (ports: Pick<Ports, 'eventStore'>, project: string, artifact: string) => {
  const { state } = await load(ports, draftDecider, draftStream(project, artifact))
  return state.drafted === null ? undefined : { ...state, drafted: state.drafted }
}

type UploadPorts = Pick<Services, 'eventStore' | 'ids' | 'blobs' | 'sha256' | 'maxFileBytes'>

/** Names the manifest of a draft by its MD5; returns the position at which that can be read. */
export const nameManifest =
  (ports: Pick<Ports, 'eventStore' | 'ids'>) =>
  async (
    project: string,
    artifact: string,
    manifest: { readonly md5: string; readonly base_id: string | null },
    cause: Cause,
  ): Promise<Position | undefined> => {
    const stream = draftStream(project, artifact)
    const command = { type: 'NameManifest', ...manifest } as const
    const { refusals, readableAt } = await execute(ports)(draftDecider, stream, [command], cause)
    throwIfRefused(refusals.get(0))
    return readableAt
  }

interface Committed {
  /** The id of the version that has the content. */
  readonly artifactId: string
  readonly position: Position | undefined
}

/**
 * Begins an upload. Content that the collection has already is not uploaded again: the version gets the aliases and tags,
 * but not `latest`, which follows new versions only.
 */
export const draftArtifact =
  (ports: Pick<UploadPorts, 'eventStore' | 'ids'>, collections: Collections) =>
  async (place: CollectionPlace, draft: ArtifactDrafted, cause: Cause) => {
    const state = await collections.read(place)
    const { type, live } = state
    const same = versionOf(state, draft.digest)
    if (live > 0 && type !== null && type !== draft.type)
      throw new Failure(
        'conflict',
        `The collection ${place.collection} has artifacts of the type ${type}. Use that type or another name.`,
      )
    if (same === undefined) {
      const stream = draftStream(draft.project_id, draft.artifact_id)
      const written = await execute(ports)(draftDecider, stream, [{ type: 'DraftArtifact', draft }], cause)
      return { isCommitted: false, artifactId: draft.artifact_id, position: written.readableAt }
    }
    const { digest, run_id, aliases, tags } = draft
    const written = await collections.write(
      {
        type: 'RepeatVersion',
        place,
        digest,
        run_id,
        merged_id: null,
        aliases: withoutLatest(aliases),
        tags,
      },
      cause,
    )
    throwIfRefused(written.refusals.get(0))
    return { isCommitted: true, artifactId: same, position: written.readableAt }
  }

/** It follows new versions only. */
const withoutLatest = (aliases: readonly string[]): readonly string[] =>
  aliases.filter((alias) => alias !== LATEST)

/** The id of the version with the content. */
const versionOf = ({ byDigest, versions }: CollectionState, digest: string): string | undefined => {
  const version = byDigest.get(digest)
  const known = version === undefined ? undefined : versions.get(version)
  return known?.artifactId
}

/** The digest of content that clients compute: an MD5 of names and digests, in the order of the names' code points. */
export const manifestDigest = (entries: readonly Pick<ManifestEntry, 'path' | 'digest'>[]): string => {
  const sum = createHash('md5').update('wandb-artifact-manifest-v1\n')
  const named = entries.map(({ path, digest }) => ({ name: Buffer.from(path), digest }))
  for (const { name, digest } of named.sort((a, b) => a.name.compare(b.name)))
    sum.update(name).update(`:${digest}\n`)
  return sum.digest('hex')
}

/** The files of a manifest that is stored. */
export const readManifest = async (
  ports: Pick<Ports, 'blobs'>,
  blob: string,
): Promise<readonly ManifestEntry[] | undefined> => {
  const document = await readDocument(ports, blob)
  return document === undefined ? undefined : entriesOf(document)
}

const readDocument = async ({ blobs }: Pick<Ports, 'blobs'>, blob: string): Promise<Json | undefined> => {
  const content = await blobs.get(blob)
  if (content === undefined) throw new BlobMissing(blob)
  try {
    const { value } = await parseJsonInSteps(new TextDecoder().decode(content), { isLimited: false })
    return value
  } catch {
    return undefined
  }
}

const incomplete = (reason: string) => new Failure('conflict', `The artifact cannot be committed: ${reason}`)

/** Makes a draft a version, once all its content is stored. A repeat answers the same. */
export const commitDraft =
  (ports: UploadPorts, collections: Collections) =>
  async (place: CollectionPlace, artifact_id: string, now: Instant, cause: Cause): Promise<Committed> => {
    const project = place.project_id!
    const draft = await readDraft(ports, project, artifact_id)
    if (draft === undefined) throw new Failure('not-found', 'Artifact not found in the project.')
    const { drafted, manifest: md5, base } = draft
    const listed = md5 === null ? undefined : await storedByMd5(ports, project, md5)
    if (md5 === null || listed === undefined) throw incomplete('its manifest was not uploaded.')
    if (listed.size > MAX_MANIFEST_BYTES)
      throw incomplete(`its manifest has more than ${MAX_MANIFEST_BYTES} bytes.`)
    const own = await readManifest(ports, listed.blob)
    if (own === undefined) throw incomplete('its manifest is no list of files.')
    const unsafe = own.find(({ path }) => !isFilePath(path))
    if (unsafe !== undefined) throw incomplete(`${JSON.stringify(unsafe.path)} is not valid: ${PATH_RULE}.`)
    const computed = manifestDigest(own)
    if (computed !== drafted.digest)
      throw incomplete(
        `the digest of ${place.collection} was given as ${drafted.digest}, but that of its manifest is ${computed}.`,
      )
    const added = base === null ? undefined : await addedTo(ports, collections, place, base, listed.blob)
    const { entries, manifest } = added ?? { entries: own, manifest: { blob: listed.blob, md5 } }
    const sizes = await inChunks(entries, AT_ONCE, (entry) => sizeOf(ports, project, entry, cause))
    // A client may claim any size for content that is elsewhere.
    const size = Math.min(
      Number.MAX_SAFE_INTEGER,
      sizes.reduce((sum, one) => sum + one, 0),
    )
    const digest = added === undefined ? drafted.digest : manifestDigest(entries)
    const { type, metadata, aliases, tags, description, run_id, history_step, ttl_seconds } = drafted
    const uploaded = {
      manifest: { ...manifest, size, files: entries.length },
      description,
      run_id,
      history_step,
      ttl_seconds,
      tags,
    }
    const written = await collections.write(
      {
        type: 'CreateVersion',
        place,
        artifact_id,
        digest,
        artifactType: type,
        metadata,
        files: null,
        uploaded,
        aliases: withoutLatest(aliases),
        now,
      },
      cause,
    )
    throwIfRefused(written.refusals.get(0))
    return { artifactId: artifactIdOf(written.state, artifact_id, digest), position: written.readableAt }
  }

/** The files of an incremental artifact: those of its base, and its own in their place. */
const addedTo = async (
  ports: UploadPorts,
  collections: Collections,
  place: CollectionPlace,
  base: string,
  blob: string,
) => {
  const version = await findVersion(ports, collections, place, versionWithId(base))
  const { manifest = null } = (version?.event.data ?? {}) as Partial<VersionCreated>
  if (manifest === null) throw incomplete('the version that it adds to is gone.')
  const [before, own] = [await readDocument(ports, manifest.blob), await readDocument(ports, blob)]
  if (!isJsonObject(before) || !isJsonObject(own)) throw incomplete('its manifest is no list of files.')
  const contentsOf = ({ contents }: JsonObject) => Object.entries(isJsonObject(contents) ? contents : {})
  const contents = Object.fromEntries([...contentsOf(before), ...contentsOf(own)])
  const text = jsonText({ ...own, contents })
  return {
    entries: entriesOf({ contents }) ?? [],
    manifest: {
      blob: await ports.blobs.put(Buffer.from(text)),
      md5: createHash('md5').update(text).digest('hex'),
    },
  }
}

const sizeOf = async (
  ports: UploadPorts,
  project: string,
  { path, digest, size, reference }: ManifestEntry,
  cause: Cause,
): Promise<number> => {
  if (reference !== null) return size
  const md5 = hexOfMd5(digest) ?? ''
  const stored = await storedByMd5(ports, project, md5)
  if (stored !== undefined) return stored.size
  const blob = directBlob(project, md5, ports.sha256)
  const sent = await ports.blobs.direct?.size(blob)
  if (sent === undefined) throw incomplete(`the file ${path} was not uploaded.`)
  if (sent !== size)
    throw incomplete(`the file ${path} has ${sent} bytes in the bucket, and ${size} in the manifest.`)
  if (sent > ports.maxFileBytes)
    throw incomplete(
      `the file ${path} exceeds the limit of ${ports.maxFileBytes} bytes, which TALLYTREE_MAX_FILE_BYTES sets.`,
    )
  const file = { project_id: project, digest: md5Digest(md5), blob, size, wb_user_id: cause.actor }
  await storeFile(ports, { type: 'StoreFile', file })(cause)
  return size
}

/** The id of the version that was created or already had the content. */
const artifactIdOf = (state: CollectionState, artifactId: string, digest: string): string =>
  state.versions.get(state.byId.get(artifactId) ?? -1)?.artifactId ?? versionOf(state, digest) ?? artifactId
