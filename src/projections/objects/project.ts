import { objectEvents } from '../../domain/objects/events.js'
import { baseClassIn } from '../../domain/objects/classes.js'
import { weaveText } from '../../domain/objects/weave-digest.js'
import { asText, storedText } from '../clickhouse-values.js'
import { projectionOf } from '../projection.js'
import type { RowOf } from '../table.js'
import { OBJECT_ALIASES, OBJECT_TAGS, OBJECT_VERSIONS } from './tables.js'

export const objectsProjection = projectionOf('objects', objectEvents, (events) => {
  const versions: RowOf<typeof OBJECT_VERSIONS>[] = []
  const tags: RowOf<typeof OBJECT_TAGS>[] = []
  const aliases: RowOf<typeof OBJECT_ALIASES>[] = []
  for (const { type, data, position, texts, weaveBytes } of events)
    switch (type) {
      case 'ObjectPublished':
        versions.push({
          ...data,
          position,
          base_object_class: baseClassIn(data),
          // The text is ASCII.
          weave_bytes: weaveBytes ?? weaveText(data.val).length,
          val: storedText(texts?.['val']) ?? asText(data, 'val'),
        })
        break
      case 'ObjectDeleted': {
        const { deleted_at } = data
        versions.push({ ...data, position, kind: 'object', created_at: deleted_at, val: '', weave_bytes: 0 })
        break
      }
      case 'ObjectTagsAdded':
      case 'ObjectTagsRemoved':
        for (const tag of data.tags) tags.push({ ...data, position, tag, is_on: type === 'ObjectTagsAdded' })
        break
      case 'ObjectAliasesSet':
        for (const alias of data.aliases) aliases.push({ ...data, position, alias, is_set: true })
        break
      case 'ObjectAliasesRemoved':
        for (const alias of data.aliases)
          aliases.push({ ...data, position, alias, version_index: 0, is_set: false })
    }
  return [OBJECT_VERSIONS.rows(versions), OBJECT_TAGS.rows(tags), OBJECT_ALIASES.rows(aliases)]
})
