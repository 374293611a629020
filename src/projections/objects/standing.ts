import type { SqlParameter } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'

export type Parameters = Readonly<Record<string, SqlParameter>>

/** What every statement here is given. */
export const asOf = (projectId: string, position: Position): Parameters => ({ project: projectId, position })

const OF_PROJECT = 'project_id = {project:String} AND position <= {position:UInt64}'

/** The last fact about each version, that of its deletion among them. `more` narrows the objects. */
export const lastFacts = (more = 'true'): string =>
  `SELECT object_id, version_index, position, digest, kind, base_object_class, leaf_object_class, created_at,
    deleted_at, val_bytes
  FROM object_versions WHERE ${OF_PROJECT} AND ${more}
  ORDER BY position DESC LIMIT 1 BY object_id, version_index`

/** The versions that are there. The newest of an object is the latest. */
export const standingVersions = (more?: string): string =>
  `SELECT *, version_index = max(version_index) OVER (PARTITION BY object_id) AS is_latest
  FROM (${lastFacts(more)}) WHERE deleted_at IS NULL`

/** The tags that versions have. */
export const standingTags = (more = 'true'): string =>
  `SELECT object_id, version_index, tag FROM (
    SELECT object_id, version_index, tag, is_on FROM object_tags WHERE ${OF_PROJECT} AND ${more}
    ORDER BY position DESC LIMIT 1 BY object_id, version_index, tag
  ) WHERE is_on`

/** The aliases that point at a version. */
export const standingAliases = (more = 'true'): string =>
  `SELECT object_id, version_index, alias FROM (
    SELECT object_id, version_index, alias, is_set FROM object_aliases WHERE ${OF_PROJECT} AND ${more}
    ORDER BY position DESC LIMIT 1 BY object_id, alias
  ) WHERE is_set`
