import type { ObjectEvent } from '../../../src/domain/object/events.js'
import type { ClickHouse } from '../../../src/domain/ports/clickhouse.js'
import type { ProjectedEvent } from '../../../src/projections/projection.js'

type Row = Readonly<Record<string, unknown>>
type Positioned = ObjectEvent & Pick<ProjectedEvent, 'position'>

interface ObjectRows {
  readonly versions: readonly Row[]
  readonly tags: readonly Row[]
  readonly aliases: readonly Row[]
}

/** What the tables hold of objects, in the order of the events. */
export const readObjectRows = async (clickHouse: ClickHouse, entity: string): Promise<ObjectRows> => {
  const rowsOf = (table: string, columns: string, order: string) =>
    clickHouse.writer.query<Row>(
      `SELECT ${columns} FROM ${table} FINAL WHERE startsWith(project_id, {prefix:String})
      ORDER BY position, ${order}`,
      { prefix: `${entity}/` },
    )
  const versions = '* EXCEPT (project_id), val_bytes'
  return {
    versions: await rowsOf('object_versions', versions, 'version_index'),
    tags: await rowsOf('object_tags', '* EXCEPT (project_id)', 'tag'),
    aliases: await rowsOf('object_aliases', '* EXCEPT (project_id)', 'alias'),
  }
}

export const expectedObjectRows = (events: readonly ProjectedEvent[]): ObjectRows => ({
  versions: (events as readonly Positioned[]).flatMap(versionRows),
  tags: (events as readonly Positioned[]).flatMap(tagRows),
  aliases: (events as readonly Positioned[]).flatMap(aliasRows),
})

const versionRows = (event: Positioned): readonly Row[] => {
  const position = Number(event.position)
  if (event.type === 'ObjectPublished') {
    const { project_id: _, val: value, spilled: _s, created_at, ...rest } = event.data
    const val = JSON.stringify(value)
    const val_bytes = Buffer.byteLength(val)
    return [{ ...rest, position, created_at: printed(created_at), deleted_at: null, val, val_bytes }]
  }
  if (event.type !== 'ObjectDeleted') return []
  const { project_id: _, deleted_at, ...rest } = event.data
  const time = { created_at: printed(deleted_at), deleted_at: printed(deleted_at) }
  const nothing = { kind: 'object', base_object_class: null, leaf_object_class: null, val: '', val_bytes: 0 }
  return [{ ...rest, position, ...time, ...nothing }]
}

const tagRows = (event: Positioned): readonly Row[] => {
  if (event.type !== 'ObjectTagsAdded' && event.type !== 'ObjectTagsRemoved') return []
  const { object_id, version_index, tags } = event.data
  const is_on = event.type === 'ObjectTagsAdded'
  const position = Number(event.position)
  return sortedOnce(tags).map((tag) => ({ object_id, version_index, tag, position, is_on }))
}

const aliasRows = (event: Positioned): readonly Row[] => {
  if (event.type !== 'ObjectAliasesSet' && event.type !== 'ObjectAliasesRemoved') return []
  const { object_id, aliases } = event.data
  const is_set = event.type === 'ObjectAliasesSet'
  const version_index = event.type === 'ObjectAliasesSet' ? event.data.version_index : 0
  const position = Number(event.position)
  return sortedOnce(aliases).map((alias) => ({ object_id, alias, position, version_index, is_set }))
}

/** As the table sorts them: by their bytes. */
const sortedOnce = (texts: readonly string[]): readonly string[] =>
  [...new Set(texts)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))

const printed = (instant: string): string => instant.replace('T', ' ').replace('Z', '')
