import { instant, int64, nullable, position, table, text } from '../table.js'

/**
 * One row a version of a collection; `project_id` is that of a registry too. What makes it and what deletes or unlinks it each
 * set their own columns.
 */
export const VERSIONS = table(
  'artifact_versions',
  {
    project_id: text,
    collection: text,
    version: int64,
    artifact_id: nullable(text),
    type: nullable(text),
    run_id: nullable(text),
    source_project: nullable(text),
    made_at: nullable(instant),
    made_position: nullable(position),
    ended_position: nullable(position),
  },
  ['project_id', 'collection', 'version'],
  {
    engine: 'CoalescingMergeTree',
    indexes: { by_artifact: 'artifact_id TYPE bloom_filter', by_run: 'run_id TYPE bloom_filter' },
  },
)

/** The runs that logged each version. */
export const MAKERS = table(
  'artifact_makers',
  { project_id: text, run_id: text, collection: text, version: int64, position },
  ['project_id', 'run_id', 'collection', 'version'],
)
