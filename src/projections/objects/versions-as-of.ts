import type { SqlParameter } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'

export type Parameters = Readonly<Record<string, SqlParameter>>

/** The parameters of every statement here. */
export const asOf = (projectId: string, position: Position): Parameters => ({ project: projectId, position })

const OF_PROJECT = 'project_id = {project:String} AND position <= {position:UInt64}'

/** The versions that are not deleted. `objects` is a condition on the objects. */
export const versionsAsOf = (objects = 'true'): string =>
  `SELECT *, version_index = max(version_index) OVER (PARTITION BY object_id) AS is_latest FROM (
    SELECT object_id, version_index, position, digest, kind, base_object_class, leaf_object_class, created_at,
      deleted_at, val_bytes
    FROM object_versions WHERE ${OF_PROJECT} AND ${objects}
    ORDER BY position DESC LIMIT 1 BY object_id, version_index
  ) WHERE deleted_at IS NULL`

export const tagsAsOf = (condition = 'true'): string =>
  `SELECT object_id, version_index, tag FROM (
    SELECT object_id, version_index, tag, is_on FROM object_tags WHERE ${OF_PROJECT} AND ${condition}
    ORDER BY position DESC LIMIT 1 BY object_id, version_index, tag
  ) WHERE is_on`

export const aliasesAsOf = (condition = 'true'): string =>
  `SELECT object_id, version_index, alias FROM (
    SELECT object_id, version_index, alias, is_set FROM object_aliases WHERE ${OF_PROJECT} AND ${condition}
    ORDER BY position DESC LIMIT 1 BY object_id, alias
  ) WHERE is_set`
