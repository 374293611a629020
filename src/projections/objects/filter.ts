import type { SqlParameter } from '../../kernel/ports/clickhouse.js'
import { aliasesAsOf, tagsAsOf, type Parameters } from './versions-as-of.js'

/** Keys are AND-ed, the values of one key OR-ed; an empty list is ignored. */
export interface ObjectsFilter {
  readonly base_object_classes: readonly string[] | null
  readonly exclude_base_object_classes: readonly string[] | null
  readonly leaf_object_classes: readonly string[] | null
  readonly object_ids: readonly string[] | null
  readonly is_op: boolean | null
  readonly latest_only: boolean | null
  readonly tags: readonly string[] | null
  readonly aliases: readonly string[] | null
}

interface Condition {
  /** Evaluated before the latest versions are known. */
  readonly objects: string
  readonly versions: string
  readonly parameters: Parameters
}

export const condition = (filter: ObjectsFilter | null): Condition => {
  const versions = ['true']
  const parameters: Record<string, SqlParameter> = {}
  const given = (key: keyof ObjectsFilter, sql: (list: string) => string): void => {
    const values = filter?.[key]
    if (!Array.isArray(values) || values.length === 0) return
    parameters[key] = values as readonly string[]
    versions.push(`(${sql(`{${key}:Array(String)}`)})`)
  }

  given('object_ids', (list) => `object_id IN ${list}`)
  const objects = versions.join(' AND ')
  given('base_object_classes', (list) => `base_object_class IN ${list}`)
  given('exclude_base_object_classes', (list) => `ifNull(base_object_class, '') NOT IN ${list}`)
  given('leaf_object_classes', (list) => `leaf_object_class IN ${list}`)
  given('tags', (list) => `${VERSION} IN (SELECT ${VERSION} FROM (${tagsAsOf(`tag IN ${list}`)}))`)
  given(
    'aliases',
    (list) => `${VERSION} IN (SELECT ${VERSION} FROM (${aliasesAsOf(`alias IN ${list}`)}))
    OR (is_latest AND has(${list}, 'latest'))`,
  )
  if (filter?.latest_only === true) versions.push('is_latest')
  if (typeof filter?.is_op === 'boolean') versions.push(`kind = '${filter.is_op ? 'op' : 'object'}'`)
  return { objects, versions: versions.join(' AND '), parameters }
}

const VERSION = '(object_id, version_index)'
