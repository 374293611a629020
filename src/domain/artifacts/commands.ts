import type { Instant } from '../../kernel/codec/instant.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { ArtifactFile, Manifest, VersionLinked } from './events.js'
import type { CollectionPlace } from './place.js'

interface OfCollection {
  readonly place: CollectionPlace
}

/** `digest` is the `contentDigest` of type, metadata and files. The id is new, or that of the repeated request. */
export interface CreateVersion extends OfCollection {
  readonly type: 'CreateVersion'
  readonly artifact_id: string
  readonly digest: string
  readonly artifactType: string | null
  readonly metadata: JsonObject
  readonly files: readonly ArtifactFile[] | null
  /** Set if the content was uploaded. */
  readonly uploaded: Uploaded | null
  readonly aliases: readonly string[]
  readonly now: Instant
}

/** Content that a version has already is logged again. */
export interface RepeatVersion extends OfCollection {
  readonly type: 'RepeatVersion'
  readonly digest: string
  readonly run_id: string | null
  /** The id under which the content was uploaded; null if it was not. */
  readonly merged_id: string | null
  readonly aliases: readonly string[]
  readonly tags: readonly string[]
}

/** The manifest and details of an uploaded version. */
export interface Uploaded {
  readonly manifest: Manifest
  readonly description: string | null
  readonly run_id: string | null
  readonly history_step: number | null
  readonly ttl_seconds: number | null
  readonly tags: readonly string[]
}

/** Null keeps a value. */
export interface DescribeVersion extends OfVersion {
  readonly type: 'DescribeVersion'
  /** As they are now, for comparison. */
  readonly known: Described
  readonly metadata: JsonObject | null
  readonly description: string | null
  readonly ttl_seconds: number | null
}

export interface Described {
  readonly metadata: JsonObject
  readonly description: string | null
  readonly ttl_seconds: number | null
}

export interface DeleteVersion extends OfVersion {
  readonly type: 'DeleteVersion'
  /** Otherwise a version with aliases is not deleted. */
  readonly withAliases: boolean
}

export interface LinkVersion extends OfCollection {
  readonly type: 'LinkVersion'
  /** The same for a repeated request; null when repeats cannot be recognised. */
  readonly link_id: string | null
  readonly source: VersionLinked['source']
  readonly artifactType: string | null
  readonly metadata: JsonObject
  /** They point at the link afterwards, also if it is a repeat. */
  readonly aliases: readonly string[]
  /** Whether a new link moves `latest`. */
  readonly movesLatest: boolean
  /** Those of the linked version. */
  readonly tags: readonly string[]
}

/** `version` is a name such as `v3`, or an alias. */
interface OfVersion extends OfCollection {
  readonly version: string
}

export interface UnlinkVersion extends OfVersion {
  readonly type: 'UnlinkVersion'
}

/** Moves the alias to this version. */
export interface SetAlias extends OfVersion {
  readonly type: 'SetAlias'
  readonly alias: string
}

export interface RemoveAlias extends OfCollection {
  readonly type: 'RemoveAlias'
  readonly alias: string
}

export interface AddTag extends OfVersion {
  readonly type: 'AddTag'
  readonly tag: string
}

export interface RemoveTag extends OfVersion {
  readonly type: 'RemoveTag'
  readonly tag: string
}

/** Undefined keeps a value. */
export interface DescribeCollection extends OfCollection {
  readonly type: 'DescribeCollection'
  readonly description?: string | null | undefined
  readonly tagsToAdd?: readonly string[]
  readonly tagsToDelete?: readonly string[]
}

export type LabelCommand = DescribeCollection | SetAlias | RemoveAlias | AddTag | RemoveTag
export type ArtifactCommand = CreateVersion | RepeatVersion | DescribeVersion | DeleteVersion | LabelCommand
export type RegisteredCommand = LinkVersion | UnlinkVersion | DescribeVersion | LabelCommand

/** The id distinguishes a repeated request from a second registry of the same name. */
export interface CreateRegistry {
  readonly type: 'CreateRegistry'
  readonly team: string
  readonly registry: string
  readonly id: string
}
