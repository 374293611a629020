import type { Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader, SqlParameters } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { AnnotationState } from '../../domain/annotation-queues/items/decider.js'
import { DELETED_KEYS } from '../calls/select.js'
import { instantFrom } from '../clickhouse-values.js'
import type { Column } from '../expression/fields.js'
import { orderTerms, type OrderBy } from '../expression/order.js'
import { newParameters } from '../expression/parameters.js'
import { LIVE_QUEUES, queuesAsOf } from './visible.js'

export interface StoredQueue {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly scorer_refs: readonly string[]
  readonly created_by: string
  readonly created_at: Instant
  readonly updated_at: Instant
}

interface Page {
  readonly order: readonly OrderBy[]
  readonly limit: number | null
  readonly offset: number | null
}

const text = (sql: string): Column => ({ kind: 'text', sql })
const instant = (sql: string): Column => ({ kind: 'instant', sql })

const QUEUE_FIELDS: Readonly<Record<string, Column>> = {
  ...Object.fromEntries(['id', 'name', 'description', 'created_by'].map((name) => [name, text(name)])),
  created_at: instant('created_at'),
  updated_at: instant('updated_at'),
}

export interface QueueQuery extends Page {
  readonly projectId: string
  readonly position: Position
  /** A part of the name, in any case; null for all. */
  readonly name: string | null
  /** Only these queues; null for all. */
  readonly ids: readonly string[] | null
}

/**
 * The queues that are not deleted.
 *
 * @throws UnknownField
 */
export const annotationQueues =
  (reader: ClickHouseReader) =>
  async ({ projectId, position, name, ids, ...page }: QueueQuery): Promise<readonly StoredQueue[]> => {
    const { sql, parameters } = pageSql(page, QUEUE_FIELDS)
    const named = name === null ? 'true' : 'position(lowerUTF8(name), lowerUTF8({name:String})) > 0'
    const rows = await reader.query<StoredQueue>(
      `SELECT * FROM (${queuesAsOf(ids === null ? 'true' : 'id IN {ids:Array(String)}')}) WHERE ${named} ${sql}`,
      {
        ...parameters,
        project: projectId,
        position,
        ...(name === null ? {} : { name }),
        ...(ids === null ? {} : { ids }),
      },
    )
    return rows.map((row) => ({
      ...row,
      created_at: instantFrom(row.created_at),
      updated_at: instantFrom(row.updated_at),
    }))
  }

/** @throws UnknownField */
const pageSql = ({ order, limit, offset }: Page, fields: Readonly<Record<string, Column>>) => {
  const ordering = newParameters('o')
  const by = [...orderTerms(order, fields, ordering), 'id ASC'].join(', ')
  const parameters: SqlParameters = {
    ...ordering.all(),
    offset: offset ?? 0,
    ...(limit === null ? {} : { limit }),
  }
  const sql = `ORDER BY ${by} ${limit === null ? '' : 'LIMIT {limit:UInt64}'} OFFSET {offset:UInt64}`
  return { by, sql, parameters }
}

/**
 * The items of live queues whose calls are not deleted, with the state that reviewers gave them. `queues` is a condition on
 * `queue_id`.
 */
const itemsAsOf = (queues: string): string => `
  SELECT items.*, if(progress.item_id = '', 'unstarted', progress.last.1) AS annotation_state,
    nullIf(progress.last.2, '') AS annotator_user_id,
    if(progress.item_id = '', items.created_at, progress.last.3) AS updated_at
  FROM (SELECT * EXCEPT (project_id, position) FROM annotation_queue_items FINAL
    WHERE project_id = {project:String} AND position <= {position:UInt64} AND ${queues} AND ${LIVE_QUEUES}
      AND (call_started_at, call_id) NOT IN ${DELETED_KEYS}) AS items
  LEFT JOIN (
    SELECT item_id, argMax(tuple(toString(state), annotator, updated_at), position) AS last
    FROM annotation_progress
    WHERE project_id = {project:String} AND position <= {position:UInt64} AND ${queues} GROUP BY item_id
  ) AS progress ON progress.item_id = items.id`

export interface StoredItem {
  readonly id: string
  readonly queue_id: string
  readonly call_id: string
  readonly call_op_name: string
  readonly call_trace_id: string
  readonly call_started_at: Instant
  readonly display_fields: readonly string[]
  readonly added_by: string
  readonly created_at: Instant
  readonly updated_at: Instant
  readonly annotation_state: AnnotationState
  readonly annotator_user_id: string | null
  /** From 1, in the whole sorted queue; null unless requested. */
  readonly position_in_queue: number | null
}

const ITEM_TEXTS = [
  'id',
  'call_id',
  'call_op_name',
  'call_trace_id',
  'added_by',
  'annotation_state',
  'annotator_user_id',
]

const ITEM_FIELDS: Readonly<Record<string, Column>> = {
  ...Object.fromEntries(ITEM_TEXTS.map((name) => [name, text(name)])),
  created_by: text('added_by'),
  ...Object.fromEntries(['call_started_at', 'created_at', 'updated_at'].map((name) => [name, instant(name)])),
}

export const ITEM_FILTERS = ['id', 'call_id', 'call_op_name', 'call_trace_id', 'added_by'] as const

export type ItemFilter = Readonly<Record<(typeof ITEM_FILTERS)[number], string | null>> & {
  readonly annotation_states: readonly string[] | null
}

export interface ItemQuery extends Page {
  readonly projectId: string
  readonly queueId: string
  readonly position: Position
  readonly filter: ItemFilter | null
  readonly withPosition: boolean
}

/** @throws UnknownField */
export const annotationItems =
  (reader: ClickHouseReader) =>
  async ({ projectId, queueId, position, filter, withPosition, ...page }: ItemQuery) => {
    const { by, sql, parameters } = pageSql(page, ITEM_FIELDS)
    const filtered = filterSql(filter)
    const place = withPosition ? `row_number() OVER (ORDER BY ${by})` : "CAST(NULL, 'Nullable(UInt64)')"
    const rows = await reader.query<StoredItem>(
      `SELECT * FROM (
        SELECT *, ${place} AS position_in_queue FROM (${itemsAsOf('queue_id = {queue:String}')})
      ) WHERE ${filtered.sql} ${sql}`,
      { ...parameters, ...filtered.parameters, project: projectId, queue: queueId, position },
    )
    return rows.map((row): StoredItem => ({
      ...row,
      call_started_at: instantFrom(row.call_started_at),
      created_at: instantFrom(row.created_at),
      updated_at: instantFrom(row.updated_at),
    }))
  }

const filterSql = (filter: ItemFilter | null) => {
  const conditions = ['true']
  const parameters: Record<string, string | readonly string[]> = {}
  for (const name of ITEM_FILTERS) {
    const value = filter?.[name] ?? null
    if (value === null) continue
    conditions.push(`${name} = {is_${name}:String}`)
    parameters[`is_${name}`] = value
  }
  const states = filter?.annotation_states ?? []
  if (states.length > 0) {
    conditions.push('annotation_state IN {states:Array(String)}')
    parameters['states'] = states
  }
  return { sql: conditions.join(' AND '), parameters }
}

export interface QueueStats {
  readonly queue_id: string
  readonly total_items: number
  readonly completed_items: number
}

/** Counts the items of queues; none for a queue without items. */
export const annotationQueueStats =
  (reader: ClickHouseReader) =>
  (projectId: string, ids: readonly string[], position: Position): Promise<readonly QueueStats[]> =>
    reader.query<QueueStats>(
      `SELECT queue_id, count() AS total_items, countIf(annotation_state IN ('completed', 'skipped')) AS completed_items
      FROM (${itemsAsOf('queue_id IN {ids:Array(String)}')}) GROUP BY queue_id`,
      { project: projectId, ids, position },
    )
