import {
  boolean,
  computed,
  erasable,
  instant,
  json,
  nullable,
  position,
  table,
  text,
  uint64,
  type Column,
} from '../table.js'

const kind: Column<'object' | 'op'> = { type: "Enum8('object' = 0, 'op' = 1)" }

/**
 * What became of the versions of objects, and at which log position: a row is a publication or, where `deleted_at` is set, a
 * deletion. The last row of a version at or before N is the version as of N. Granules are small, because a read is mostly of
 * one row.
 */
export const OBJECT_VERSIONS = table(
  'object_versions',
  {
    project_id: text,
    object_id: text,
    version_index: uint64,
    position,
    digest: text,
    kind,
    base_object_class: nullable(text),
    leaf_object_class: nullable(text),
    created_at: instant,
    deleted_at: nullable(instant),
    wb_user_id: nullable(text),
    val: erasable(json, "'null'"),
    /** Bytes of the text that the digest is of. */
    weave_bytes: uint64,
    val_bytes: computed('UInt64', 'length(val)'),
  },
  ['project_id', 'object_id', 'version_index', 'position'],
  { granularity: 256 },
)

/** Tags of versions as they were put on and taken off. */
export const OBJECT_TAGS = table(
  'object_tags',
  { project_id: text, object_id: text, version_index: uint64, tag: text, position, is_on: boolean },
  ['project_id', 'object_id', 'version_index', 'tag', 'position'],
)

/** Aliases of objects as they were pointed at versions, or, where `is_set` is false, at none. */
export const OBJECT_ALIASES = table(
  'object_aliases',
  { project_id: text, object_id: text, alias: text, position, version_index: uint64, is_set: boolean },
  ['project_id', 'object_id', 'alias', 'position'],
)
