import type { Instant } from '../../kernel/codec/instant.js'
import type { ObjectPublished } from './events.js'

export type ObjectCommand = PublishObject | DeleteVersions | AddTags | RemoveTags | SetAliases | RemoveAliases

export interface PublishObject {
  readonly type: 'PublishObject'
  readonly content: Omit<ObjectPublished, 'version_index'>
}

interface OfObject {
  readonly project_id: string
  readonly object_id: string
  readonly wb_user_id: string
}

interface OfVersion extends OfObject {
  /** A digest, `latest`, `v` with a number, or an alias. */
  readonly version: string
}

export interface DeleteVersions extends OfObject {
  readonly type: 'DeleteVersions'
  /** Null for all versions. */
  readonly versions: readonly string[] | null
  readonly deleted_at: Instant
}

export interface AddTags extends OfVersion {
  readonly type: 'AddTags'
  readonly tags: readonly string[]
}

export interface RemoveTags extends OfVersion {
  readonly type: 'RemoveTags'
  readonly tags: readonly string[]
}

export interface SetAliases extends OfVersion {
  readonly type: 'SetAliases'
  readonly aliases: readonly string[]
}

export interface RemoveAliases extends OfObject {
  readonly type: 'RemoveAliases'
  readonly aliases: readonly string[]
}
