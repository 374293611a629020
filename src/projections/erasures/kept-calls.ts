import { RUN_OP } from '../../domain/evaluations/run-calls.js'
import { callRef, REF_SCHEME } from '../../domain/refs/ref.js'
import type { Exception } from '../../domain/projects/project.js'
import { LIVE_QUEUES } from '../annotation-queues/visible.js'
import { VISIBLE } from '../feedback/queries.js'
import { versionsAsOf } from '../objects/versions-as-of.js'
import { raw, sql, type Sql } from '../sql.js'

/** Calls that a selection leaves out. */
export type KeptCalls = Exception | 'erased'

/**
 * The condition on rows of `calls` that leaves calls out, or all calls of their traces, as of `{position:UInt64}` in
 * `{project:String}`.
 */
export const keptCalls = (projectId: string, kept: KeptCalls, keeps: 'call' | 'trace'): Sql => {
  const notIn = (ids: Sql): Sql =>
    keeps === 'call'
      ? sql`id NOT IN (${ids})`
      : sql`trace_id NOT IN (SELECT trace_id FROM call_index WHERE project_id = {project:String} AND id IN (${ids}))`
  switch (kept) {
    case 'erased':
      return sql`is_erased IS NULL`
    case 'with_feedback':
      return notIn(namedByFeedback(callRef(projectId, '')))
    case 'in_annotation_queues':
      return notIn(QUEUED)
    case 'in_datasets':
      return notIn(namedByDatasets(callRef(projectId, '')))
    case 'in_evaluations':
      return sql`trace_id NOT IN (${EVALUATED_TRACES})`
    default:
      return kept satisfies never
  }
}

const QUEUED = sql`SELECT call_id FROM annotation_queue_items
  WHERE project_id = {project:String} AND position <= {position:UInt64} AND ${LIVE_QUEUES}`

const namedByFeedback = (prefix: string): Sql =>
  sql`SELECT splitByChar('/', substring(assumeNotNull(weave_ref), length(${prefix}) + 1))[1] FROM feedback FINAL
    WHERE ${raw(VISIBLE)} AND startsWith(ifNull(weave_ref, ''), ${prefix})`

/** Versions of datasets that are not deleted. They have rows, or name the tables that have them, perhaps of another project. */
const DATASETS = `SELECT val FROM object_versions WHERE project_id = {project:String}
  AND (object_id, version_index, position) IN (
    SELECT object_id, version_index, position FROM (${versionsAsOf()}) WHERE base_object_class = 'Dataset')`

const ROWS = raw(`SELECT val FROM table_rows WHERE project_id = {project:String} AND digest IN (
  SELECT arrayJoin(row_digests) FROM table_entries WHERE project_id = {project:String} AND table_digest IN (
    SELECT arrayJoin(extractAll(val, '${REF_SCHEME}[^/"]+/[^/"]+/table/([^/"]+)')) FROM (${DATASETS})))`)

const namedByDatasets = (prefix: string): Sql =>
  sql`SELECT arrayJoin(extractAll(val, concat(regexpQuoteMeta(${prefix}), '([^/"]+)'))) FROM (
    ${ROWS} UNION ALL ${raw(DATASETS)})`

/** Of evaluation runs, and of the predictions and scores that name one. */
const EVALUATED_TRACES = raw(`SELECT assumeNotNull(trace_id) FROM calls WHERE project_id = {project:String}
  AND started_position <= {position:UInt64} AND (op = '${RUN_OP}' OR position(ifNull(attributes, ''), 'evaluation_run') > 0
    AND (JSONExtractRaw(assumeNotNull(attributes), 'weave', 'evaluation_run') IN ('"true"', 'true')
      OR JSONExtractString(assumeNotNull(attributes), 'weave', 'evaluation_run_id') != ''
      OR JSONExtractString(assumeNotNull(attributes), 'tallytree', 'evaluation_run_id') != ''))`)
