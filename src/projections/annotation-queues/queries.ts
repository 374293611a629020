import type { Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { AnnotationState } from '../../domain/annotation-queues/item.js'
import { DELETED_KEYS } from '../calls/select.js'
import { orderSql } from '../expression/order.js'
import { pageSql, type Page } from '../expression/page.js'
import { allOf, ofProject, raw, select, sql, type Sql } from '../sql.js'
import { fieldsOf, instant, reading, text, type ReadOf } from '../table.js'
import { ITEMS, QUEUES } from './tables.js'
import { LIVE_QUEUES, queuesAsOf } from './visible.js'

interface AsOf {
  readonly projectId: string
  readonly position: Position
}

export type StoredQueue = Omit<
  ReadOf<typeof QUEUES, keyof typeof QUEUES.columns>,
  'project_id' | 'position' | 'is_deleted'
>

const asQueue = reading(QUEUES.columns)
const QUEUE_FIELDS = fieldsOf(QUEUES.columns)

export interface QueueQuery extends Page, AsOf {
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
  async ({ name, ids, ...query }: QueueQuery): Promise<readonly StoredQueue[]> => {
    const named = name === null ? sql`true` : sql`position(lowerUTF8(name), lowerUTF8(${name})) > 0`
    const wanted = ids === null ? sql`true` : sql`id IN ${ids}`
    const queues = queuesAsOf(sql`${ofProject(query.projectId, query.position)} AND ${wanted}`)
    const rows = await select<StoredQueue>(
      reader,
      sql`SELECT * FROM (${queues}) WHERE ${named} ${pageSql(query, QUEUE_FIELDS)}`,
    )
    return rows.map(asQueue)
  }

/**
 * The items of live queues whose calls are not deleted, with the state that reviewers gave them. `queues` is a condition on
 * `queue_id`.
 */
const itemsAsOf = (query: AsOf, queues: Sql): Sql => {
  const here = sql`${ofProject(query.projectId, query.position)} AND position <= ${query.position} AND ${queues}`
  return sql`
  SELECT items.*, if(progress.item_id = '', 'unstarted', progress.last.1) AS annotation_state,
    nullIf(progress.last.2, '') AS annotator_user_id,
    if(progress.item_id = '', items.created_at, progress.last.3) AS updated_at
  FROM (SELECT * EXCEPT (project_id, position) FROM annotation_queue_items FINAL
    WHERE ${here} AND ${LIVE_QUEUES}
      AND (call_started_at, call_id) NOT IN ${DELETED_KEYS}) AS items
  LEFT JOIN (
    SELECT item_id, argMax(tuple(toString(state), annotator, updated_at), position) AS last
    FROM annotation_progress WHERE ${here} GROUP BY item_id
  ) AS progress ON progress.item_id = items.id`
}

export type StoredItem = Omit<ReadOf<typeof ITEMS, keyof typeof ITEMS.columns>, 'project_id' | 'position'> & {
  readonly updated_at: Instant
  readonly annotation_state: AnnotationState
  readonly annotator_user_id: string | null
  /** From 1, in the whole sorted queue; null unless requested. */
  readonly position_in_queue: number | null
}

const { project_id: _, queue_id: __, position: ___, ...shownColumns } = ITEMS.columns
const itemColumns = { ...shownColumns, annotation_state: text, annotator_user_id: text, updated_at: instant }
const asItem = reading(itemColumns)
const ITEM_FIELDS = { ...fieldsOf(itemColumns), created_by: { kind: 'text', sql: 'added_by' } as const }

export const ITEM_FILTERS = ['id', 'call_id', 'call_op_name', 'call_trace_id', 'added_by'] as const

export type ItemFilter = Readonly<Record<(typeof ITEM_FILTERS)[number], string | null>> & {
  readonly annotation_states: readonly string[] | null
}

export interface ItemQuery extends Page, AsOf {
  readonly queueId: string
  readonly filter: ItemFilter | null
  readonly withPosition: boolean
}

/** @throws UnknownField */
export const annotationItems =
  (reader: ClickHouseReader) =>
  async ({ queueId, filter, withPosition, ...query }: ItemQuery): Promise<readonly StoredItem[]> => {
    const place = withPosition
      ? sql`row_number() OVER (ORDER BY ${orderSql(query.order, ITEM_FIELDS)})`
      : sql`CAST(NULL, 'Nullable(UInt64)')`
    const items = itemsAsOf(query, sql`queue_id = ${queueId}`)
    const rows = await select<StoredItem>(
      reader,
      sql`SELECT * FROM (SELECT *, ${place} AS position_in_queue FROM (${items}))
      WHERE ${filterSql(filter)} ${pageSql(query, ITEM_FIELDS)}`,
    )
    return rows.map(asItem)
  }

const filterSql = (filter: ItemFilter | null): Sql => {
  const states = filter?.annotation_states ?? []
  return allOf([
    ...ITEM_FILTERS.flatMap((name) => {
      const value = filter?.[name] ?? null
      return value === null ? [] : [sql`${raw(name)} = ${value}`]
    }),
    ...(states.length === 0 ? [] : [sql`annotation_state IN ${states}`]),
  ])
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
    select<QueueStats>(
      reader,
      sql`SELECT queue_id, count() AS total_items, countIf(annotation_state IN ('completed', 'skipped')) AS completed_items
      FROM (${itemsAsOf({ projectId, position }, sql`queue_id IN ${ids}`)}) GROUP BY queue_id`,
    )
