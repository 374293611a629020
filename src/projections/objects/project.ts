import type { ObjectEvent } from '../../domain/objects/events.js'
import { baseClassIn } from '../../domain/objects/classes.js'
import { weaveText } from '../../domain/objects/weave-digest.js'
import { asText, dateTime64, storedText } from '../clickhouse-values.js'
import type { ProjectedEvent, Projection } from '../projection.js'

type Positioned = ObjectEvent & Pick<ProjectedEvent, 'position' | 'texts' | 'weaveBytes'>
type Row = readonly unknown[]

interface ObjectRows {
  readonly versions: Row[]
  readonly tags: Row[]
  readonly aliases: Row[]
}

export const VERSION_COLUMNS = [
  'project_id',
  'object_id',
  'version_index',
  'position',
  'digest',
  'kind',
  'base_object_class',
  'leaf_object_class',
  'created_at',
  'deleted_at',
  'wb_user_id',
  'val',
  'weave_bytes',
]
export const TAG_COLUMNS = ['project_id', 'object_id', 'version_index', 'tag', 'position', 'is_on']
export const ALIAS_COLUMNS = ['project_id', 'object_id', 'alias', 'position', 'version_index', 'is_set']

export const objectsProjection: Projection = {
  name: 'objects',
  rowsOf: (events) => {
    const rows: ObjectRows = { versions: [], tags: [], aliases: [] }
    for (const event of events as readonly Positioned[]) add(rows, event)
    return [
      { table: 'object_versions', columns: VERSION_COLUMNS, values: rows.versions },
      { table: 'object_tags', columns: TAG_COLUMNS, values: rows.tags },
      { table: 'object_aliases', columns: ALIAS_COLUMNS, values: rows.aliases },
    ].filter(({ values }) => values.length > 0)
  },
}

const add = (rows: ObjectRows, event: Positioned): void => {
  const { type, data } = event
  const { project_id, object_id } = data
  const position = String(event.position)
  switch (type) {
    case 'ObjectPublished': {
      const { version_index, digest, kind, leaf_object_class, wb_user_id, val } = data
      const created = dateTime64(data.created_at)
      const classes = [kind, baseClassIn(data), leaf_object_class]
      const at = [project_id, object_id, version_index, position]
      // The text is ASCII.
      const content = [
        storedText(event.texts?.['val']) ?? asText(data, 'val'),
        event.weaveBytes ?? weaveText(val).length,
      ]
      rows.versions.push([...at, digest, ...classes, created, null, wb_user_id, ...content])
      return
    }
    case 'ObjectDeleted': {
      const { version_index, digest, wb_user_id } = data
      const deleted = dateTime64(data.deleted_at)
      const at = [project_id, object_id, version_index, position]
      rows.versions.push([...at, digest, 'object', null, null, deleted, deleted, wb_user_id, '', 0])
      return
    }
    case 'ObjectTagsAdded':
    case 'ObjectTagsRemoved': {
      const isOn = type === 'ObjectTagsAdded'
      for (const tag of data.tags)
        rows.tags.push([project_id, object_id, data.version_index, tag, position, isOn])
      return
    }
    case 'ObjectAliasesSet':
      for (const alias of data.aliases)
        rows.aliases.push([project_id, object_id, alias, position, data.version_index, true])
      return
    case 'ObjectAliasesRemoved':
      for (const alias of data.aliases) rows.aliases.push([project_id, object_id, alias, position, 0, false])
      return
  }
}
