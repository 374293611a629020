import type { Instant } from '../../domain/codec/instant.js'
import { instantFrom } from '../clickhouse-values.js'

/** A version of an object as the queries read it. */
export interface StoredVersion {
  readonly object_id: string
  readonly version_index: number
  readonly digest: string
  readonly kind: 'op' | 'object'
  readonly base_object_class: string | null
  readonly leaf_object_class: string | null
  readonly created_at: Instant
  readonly deleted_at: Instant | null
  readonly wb_user_id: string | null
  readonly is_latest: boolean
  /** The content as JSON text; null where it was not asked for. */
  readonly val: string | null
  /** Bytes of the content's JSON text. */
  readonly val_bytes: number
  readonly tags: readonly string[]
  /** Those that somebody set; `latest` is not among them. */
  readonly aliases: readonly string[]
}

/** The columns of one version; `val` is read only where it is wanted. */
export const columns = (withVal: boolean): string =>
  `object_id, version_index, digest, kind, base_object_class, leaf_object_class, created_at AS created,
  deleted_at AS deleted, wb_user_id, val_bytes, ${withVal ? 'val' : 'NULL AS val'}`

export type VersionRow = Omit<
  StoredVersion,
  'is_latest' | 'created_at' | 'deleted_at' | 'tags' | 'aliases'
> & {
  readonly created: string
  readonly deleted: string | null
}

export const storedVersion = (
  { created, deleted, ...row }: VersionRow,
  { is_latest, tags, aliases }: Pick<StoredVersion, 'is_latest' | 'tags' | 'aliases'>,
): StoredVersion => ({
  ...row,
  created_at: instantFrom(created),
  deleted_at: deleted === null ? null : instantFrom(deleted),
  is_latest,
  tags,
  aliases,
})
