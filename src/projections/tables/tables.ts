import { aggregate, computed, erasable, json, position, table, text, texts, uint64 } from '../table.js'

/**
 * The contents of table rows by digest. Equal rows of several tables are one row, with the position of the first. The
 * rows of a table are not next to each other, so granules are small.
 */
export const ROWS = table(
  'table_rows',
  {
    project_id: text,
    digest: text,
    val: erasable(aggregate('any', json), "'null'"),
    bytes: computed('SimpleAggregateFunction(any, UInt64)', 'length(val)'),
    position: aggregate('min', position),
  },
  ['project_id', 'digest'],
  { engine: 'AggregatingMergeTree', granularity: 256 },
)

/** The rows of a table, in order: some thousand digests a row, `first_index` is the index of the first. */
export const ENTRIES = table(
  'table_entries',
  {
    project_id: text,
    table_digest: text,
    first_index: { ...uint64, type: 'UInt32' },
    row_digests: texts,
    position,
  },
  ['project_id', 'table_digest', 'first_index'],
  { granularity: 16 },
)

/** Published tables; a row is inserted after the entries. */
export const PUBLISHED = table(
  'tables',
  {
    project_id: text,
    digest: text,
    row_count: aggregate('any', uint64),
    position: aggregate('min', position),
  },
  ['project_id', 'digest'],
  { engine: 'AggregatingMergeTree' },
)
