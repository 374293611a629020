import type * as t from 'io-ts'
import { arrayOf, nullable, nullableText } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { int64, jsonObject, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { textLike, textUpToBytes } from '../../kernel/codec/text.js'
import type { EventOf } from '../../kernel/decider.js'
import { id, projectId, teamName, registryName } from '../../kernel/ids.js'
import { collectionName, collectionPlace, versionNumber } from './place.js'

const RULE = "String should have 1 to 128 characters, without control characters, '/', ':' and '\\'"

/** `v` followed by digits is never an alias, since an alias and a version name are interchangeable in requests. */
export const alias = textLike(
  'alias',
  /^(?!v\d+$)[^\p{Cc}/:\\]{1,128}$/u,
  `${RULE}, and not be 'v' followed by digits`,
)
export const tag = textLike('tag', /^[^\p{Cc}/:\\]{1,128}$/u, RULE)
export const artifactType = textUpToBytes(128)

export const artifactFile = open('ArtifactFile', {
  required: { path: textUpToBytes(1024), digest: textUpToBytes(256), size: int64 },
})
export type ArtifactFile = t.TypeOf<typeof artifactFile>

/** The files of a version that a client uploaded: a JSON document, which is a blob. */
export const manifest = open('ArtifactManifest', {
  required: {
    /** SHA-256 of the document: the blob's name. */
    blob: string,
    /** MD5 of the document in hexadecimal. */
    md5: string,
    /** Of all files together, in bytes. */
    size: int64,
    files: int64,
  },
})
export type Manifest = t.TypeOf<typeof manifest>

/** Seconds after which a client wants a version deleted; -2 for never, null if it says nothing. Nothing is deleted. */
const timeToLive = nullable(int64)

const { required, optional } = collectionPlace

const collectionCreated = open('CollectionCreated', {
  says: 'A collection of artifact versions was created in a project, or again after all of its versions were deleted.',
  required,
  optional: { ...optional, type: nullableText(artifactType) },
})

const collectionDescribed = open('CollectionDescribed', {
  says: 'The description or the tags of a collection changed. All of it is here.',
  required: { ...required, tags: arrayOf(tag) },
  optional: { ...optional, description: nullableText(string) },
})

const versionCreated = open('VersionCreated', {
  says:
    'A version was added to a collection. `artifact_id` is unique in the service; `digest` is the SHA-256 of its ' +
    'type, metadata and files, or the MD5 that the package `wandb` computes of the files alone. `manifest` lists the files ' +
    'of a version that was uploaded, `run_id` is the run that made it.',
  required: {
    ...required,
    version: versionNumber,
    artifact_id: id,
    digest: string,
    metadata: jsonObject,
    created_at: instant,
  },
  optional: {
    ...optional,
    type: nullableText(artifactType),
    files: nullable(arrayOf(artifactFile)),
    manifest: nullable(manifest),
    description: nullableText(string),
    run_id: nullable(id),
    history_step: nullable(int64),
    ttl_seconds: timeToLive,
  },
})

const versionRepeated = open('VersionRepeated', {
  says:
    'Content of a version was logged again. `run_id` is the run that did; `merged_id` is the id under which it was ' +
    'uploaded, which names the version from then on.',
  required: { ...required, version: versionNumber, artifact_id: id },
  optional: { ...optional, run_id: nullable(id), merged_id: nullable(id) },
})

const versionDescribed = open('VersionDescribed', {
  says: 'The metadata or the description of a version changed. All of it is here.',
  required: { ...required, version: versionNumber, artifact_id: id, metadata: jsonObject },
  optional: { ...optional, description: nullableText(string), ttl_seconds: timeToLive },
})

const versionDeleted = open('VersionDeleted', {
  says: 'A version was deleted. Its number is not reused, and its content is kept.',
  required: { ...required, version: versionNumber, artifact_id: id },
  optional,
})

const aliasAdded = open('AliasAdded', {
  says: 'An alias was pointed at a version, and removed from the version that it pointed at before.',
  required: { ...required, version: versionNumber, alias },
  optional,
})

const aliasRemoved = open('AliasRemoved', {
  says: 'An alias was removed.',
  required: { ...required, version: versionNumber, alias },
  optional,
})

const tagAdded = open('TagAdded', {
  says: 'A tag was added to a version.',
  required: { ...required, version: versionNumber, tag },
  optional,
})

const tagRemoved = open('TagRemoved', {
  says: 'A tag was removed from a version.',
  required: { ...required, version: versionNumber, tag },
  optional,
})

/** The project version that a registry entry links to. */
const linkedSource = open('LinkedSource', {
  required: { project_id: projectId, collection: collectionName, version: versionNumber, artifact_id: id },
})

const versionLinked = open('VersionLinked', {
  says:
    "A project's version was linked to a registry's collection, under its own version number and with its current metadata. " +
    '`link_id` identifies retries of a request with an Idempotency-Key.',
  required: { ...required, version: versionNumber, source: linkedSource, metadata: jsonObject },
  optional: { ...optional, type: nullableText(artifactType), link_id: nullable(id) },
})

const versionUnlinked = open('VersionUnlinked', {
  says: "A version was unlinked from a registry's collection; its number is not reused.",
  required: { ...required, version: versionNumber, source: linkedSource },
  optional,
})

const registryCreated = open('RegistryCreated', {
  says: 'A registry of a team was created. Its collections of linked versions are created by their first link.',
  required: { team: teamName, registry: registryName, id },
})

export const artifactEvents = {
  CollectionCreated: collectionCreated,
  CollectionDescribed: collectionDescribed,
  VersionCreated: versionCreated,
  VersionRepeated: versionRepeated,
  VersionDescribed: versionDescribed,
  VersionDeleted: versionDeleted,
  AliasAdded: aliasAdded,
  AliasRemoved: aliasRemoved,
  TagAdded: tagAdded,
  TagRemoved: tagRemoved,
}

/** Events of a registry's collections. Descriptions, aliases and tags are the same as in projects. */
export const registeredEvents = {
  CollectionDescribed: collectionDescribed,
  VersionLinked: versionLinked,
  VersionDescribed: versionDescribed,
  VersionUnlinked: versionUnlinked,
  AliasAdded: aliasAdded,
  AliasRemoved: aliasRemoved,
  TagAdded: tagAdded,
  TagRemoved: tagRemoved,
}

export const registryEvents = { RegistryCreated: registryCreated }

export type ArtifactEvent = EventOf<typeof artifactEvents>
export type RegisteredEvent = EventOf<typeof registeredEvents>
export type RegistryEvent = EventOf<typeof registryEvents>
export type VersionCreated = t.TypeOf<typeof versionCreated>
export type VersionLinked = t.TypeOf<typeof versionLinked>

/** One stream for all registries of a team, so that a name is unique and lists come from one fold. */
export const registryStream = (team: string): string => `registry-${team}`
