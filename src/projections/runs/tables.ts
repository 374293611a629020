import { erasable, instant, keyword, nullable, position, table, text } from '../table.js'

/** One row a change of a run; a column that the change does not concern is null. `config` is JSON, `tags` a JSON list. */
export const RUN_CHANGES = table(
  'run_changes',
  {
    project_id: text,
    run_id: text,
    position,
    user: nullable(text),
    name: nullable(text),
    state: nullable(keyword),
    at: nullable(instant),
    started_at: nullable(instant),
    group_name: nullable(text),
    job_type: nullable(text),
    tags: erasable(nullable(text), "'[]'"),
    notes: erasable(nullable(text)),
    host: erasable(nullable(text)),
    config: erasable(nullable(text), "'{}'"),
  },
  ['project_id', 'run_id', 'position'],
)

/** The last summary of each run, as JSON. It is in no digest, because earlier ones are not kept. */
export const RUN_SUMMARIES = table(
  'run_summaries',
  { project_id: text, run_id: text, position, summary: erasable(text, "'{}'") },
  ['project_id', 'run_id'],
  { engine: 'ReplacingMergeTree(position)' },
)

/** The versions that runs used. */
export const ARTIFACT_USES = table(
  'artifact_uses',
  { project_id: text, run_id: text, artifact_id: text, source_project: text, collection: text, position },
  ['project_id', 'run_id', 'artifact_id'],
  { indexes: { by_artifact: 'artifact_id TYPE bloom_filter' } },
)
