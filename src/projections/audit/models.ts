import { ITEMS, PROGRESS, QUEUES } from '../annotation-queues/tables.js'
import { CHANGES, DELIVERIES } from '../webhooks/tables.js'
import { FEEDBACK_COLUMNS } from '../feedback/columns.js'
import { OBJECT_ALIASES, OBJECT_TAGS, OBJECT_VERSIONS } from '../objects/tables.js'
import { PRICE_COLUMNS } from '../prices/stored-price.js'
import { calls, usageFacts, usageReporting } from './call-models.js'
import { VERSIONS } from '../artifacts/tables.js'
import { END_USER_ATTRIBUTES } from '../projects/tables.js'
import { RUN_CHANGES } from '../runs/tables.js'
import { atOrBefore, rowText, valueAsOf, type DigestedModel } from './model.js'

interface Columns {
  /** Part of the sorting key. */
  readonly key: readonly string[]
  /** Identifies the subject of a row; by default the key. */
  readonly subject?: readonly string[]
  readonly columns: readonly string[]
}

/** Positions, and times at which a log recorded something, differ between copies of a log. */
const OF_THE_LOG = ['position', 'at']

/** One row for each event about a subject, with its rank among them. */
const history = (table: string, { key, subject = key, columns }: Columns): DigestedModel => {
  const values = columns
    .filter((column) => !subject.includes(column) && !OF_THE_LOG.includes(column))
    .map((column) => (column === 'val' ? 'hex(SHA256(val))' : column))
  return {
    table,
    key,
    rows: (range) => `
      SELECT ${rowText([...subject, ...values.map((_, index) => `value_${index}`), 'rank'])}
      FROM (
        SELECT ${subject.join(', ')}, ${values.map((value, index) => `${value} AS value_${index}`).join(', ')},
          row_number() OVER (PARTITION BY ${subject.join(', ')} ORDER BY position) AS rank
        FROM ${table} FINAL WHERE ${range} AND ${atOrBefore('position')}
      )`,
  }
}

/** One row for each key, with values that never change. */
const contents = (table: string, key: readonly string[], values: readonly string[]): DigestedModel => ({
  table,
  key,
  rows: (range) => `
    SELECT ${rowText([...key, ...values])} FROM ${table} FINAL WHERE ${range} AND ${atOrBefore('position')}`,
})

/** One row for each subject, made at one position and ended at another. */
const lifetimes = (
  table: string,
  { key, columns }: Columns,
  [begin, end]: readonly [string, string],
): DigestedModel => {
  const isMade = `ifNull(${atOrBefore(begin)}, 0)`
  const isEnded = `ifNull(${atOrBefore(end)}, 0)`
  const values = columns.filter((column) => ![...key, begin, end].includes(column))
  return {
    table,
    key,
    rows: (range) => `
      SELECT ${rowText([...key, isMade, ...values.map(valueAsOf(begin)), isEnded])}
      FROM ${table} FINAL WHERE ${range} AND (${isMade} OR ${isEnded})`,
  }
}

/** A link is made when the log recorded it, which differs between copies. */
const VERSION_ROW_COLUMNS = VERSIONS.names.filter((column) => column !== 'made_at')

const OBJECT = ['project_id', 'object_id']

/**
 * All read models, without event times, the last summaries of runs, rows of evaluations, checkpoints and quarantined events. `usage_totals` has a digest
 * of its own, see `queries.ts`.
 */
export const digestedModels: readonly DigestedModel[] = [
  calls,
  contents('call_index', ['project_id', 'id'], ['trace_id', 'started_at']),
  usageFacts,
  usageReporting,
  history('end_user_attributes', { key: ['project_id'], columns: END_USER_ATTRIBUTES.names }),
  history('object_versions', { key: OBJECT, columns: OBJECT_VERSIONS.names }),
  history('object_tags', {
    key: OBJECT,
    subject: [...OBJECT, 'version_index', 'tag'],
    columns: OBJECT_TAGS.names,
  }),
  history('object_aliases', { key: OBJECT, subject: [...OBJECT, 'alias'], columns: OBJECT_ALIASES.names }),
  contents('table_rows', ['project_id', 'digest'], ['val']),
  contents('table_entries', ['project_id', 'table_digest'], ['first_index', 'row_digests']),
  contents('tables', ['project_id', 'digest'], ['row_count']),
  lifetimes('feedback', { key: ['project_id', 'id'], columns: FEEDBACK_COLUMNS }, [
    'given_position',
    'purged_position',
  ]),
  history('annotation_queues', { key: ['project_id', 'id'], columns: QUEUES.names }),
  contents('annotation_queue_items', ITEMS.names.slice(0, 3), ITEMS.names.slice(4)),
  history('annotation_progress', { key: PROGRESS.names.slice(0, 3), columns: PROGRESS.names }),
  contents('files', ['project_id', 'digest'], ['bytes']),
  lifetimes('prices', { key: ['owner', 'id'], columns: PRICE_COLUMNS }, [
    'published_position',
    'withdrawn_position',
  ]),
  history('deliveries', {
    key: ['team', 'automation_id'],
    subject: ['team', 'automation_id', 'delivery_id'],
    columns: DELIVERIES.names,
  }),
  history('run_changes', {
    key: ['project_id', 'run_id'],
    columns: RUN_CHANGES.names.filter((column) => column !== 'position'),
  }),
  lifetimes(
    'artifact_versions',
    { key: ['project_id', 'collection', 'version'], columns: VERSION_ROW_COLUMNS },
    ['made_position', 'ended_position'],
  ),
  contents('artifact_uses', ['project_id', 'run_id', 'artifact_id'], ['source_project', 'collection']),
  contents('artifact_makers', ['project_id', 'run_id', 'collection', 'version'], []),
  contents('projects', ['project_id'], ['created_at']),
  contents('calls_without_figures', ['project_id', 'day', 'id'], []),
  history('delivery_changes', { key: ['team', 'delivery_id'], columns: CHANGES.names }),
]
