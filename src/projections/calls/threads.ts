import type { Operation } from '../../domain/query/expression.js'
import type { Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { instantFrom } from '../clickhouse-values.js'
import type { Column } from '../expression/fields.js'
import { limitSql, pageSql, type Page } from '../expression/page.js'
import { allOf, raw, select, sql, timeSql, type Sql } from '../sql.js'
import type { MergedRows } from '../unmerged-rows.js'
import { NO_FILTER } from './filter.js'
import { callParts } from './pages.js'
import {
  compileSelection,
  readManyCalls,
  selection,
  SETTINGS,
  type CallKey,
  type CompiledSelection,
} from './select.js'

/** A thread, from its turns: the calls whose id is their turn's. */
export interface Thread {
  readonly thread_id: string
  readonly turn_count: number
  readonly start_time: Instant
  /** The last end; where no turn has ended, the last start. */
  readonly last_updated: Instant
  readonly first_turn_id: string
  /** The turn that ended last; null where none has ended. */
  readonly last_turn_id: string | null
  readonly p50_turn_duration_ms: number | null
  readonly p99_turn_duration_ms: number | null
}

export interface ThreadQuery extends Page {
  readonly projectId: string
  readonly position: Position
  /** All threads if it is empty. */
  readonly threadIds: readonly string[]
  /** Only threads that started after this time. */
  readonly after: Instant | null
  /** Only threads that were last updated before this time. */
  readonly before: Instant | null
  /** Only threads with a turn that meets this. */
  readonly matching: Operation | null
}

const FIELDS: Readonly<Record<string, Column>> = {
  thread_id: { kind: 'text', sql: 'thread_id' },
  turn_count: { kind: 'number', sql: 'turn_count' },
  start_time: { kind: 'instant', sql: 'start_time' },
  last_updated: { kind: 'instant', sql: 'last_updated' },
  p50_turn_duration_ms: { kind: 'number', sql: 'p50_turn_duration_ms' },
  p99_turn_duration_ms: { kind: 'number', sql: 'p99_turn_duration_ms' },
}

const IS_TURN = { $eq: [{ $getField: 'id' }, { $getField: 'turn_id' }] } as const

/** Each span of a trace may name its thread: together they are one turn, that of the first of them. */
const TURN_KEY = sql`if(match(part, '^[0-9a-f]{32}-[0-9a-f]{16}$'), substring(part, 1, 32), part)`

const PARTS = sql`call_thread_id AS thread_id, call_id AS part, call_started_at AS part_started, call_ended_at AS part_ended`

const turnsOf = (compiled: CompiledSelection, rows: MergedRows): Sql =>
  sql`SELECT thread_id, argMin(part, tuple(part_started, part)) AS turn, min(part_started) AS started, max(part_ended) AS ended
    FROM (${compiled.selected(PARTS, { rows })}) WHERE notEmpty(thread_id) GROUP BY thread_id, ${TURN_KEY}`

/** In microseconds; a turn that has not ended, or that ends before it starts, has none. */
const DURATION = `if(ended >= started, toUnixTimestamp64Micro(ended) - toUnixTimestamp64Micro(started), NULL)`
const percentile = (level: number): string => `quantileExactInclusiveOrNull(${level})(${DURATION}) / 1000`

/**
 * The threads of a project.
 *
 * @throws UnknownField
 */
export const threads =
  (reader: ClickHouseReader) =>
  async (query: ThreadQuery): Promise<readonly Thread[]> => {
    const { projectId, position, threadIds, after, before, matching } = query
    const filter = { ...NO_FILTER, thread_ids: threadIds }
    const compiled = compileSelection({ projectId, filter, operation: IS_TURN, position }, [])
    const turnsThat = (matching: Operation) =>
      selection(sql`call_thread_id`, {
        projectId,
        filter,
        operation: { $and: [IS_TURN, matching] },
        position,
      })
    const conditions = [
      ...(after === null ? [] : [sql`start_time > ${timeSql(after)}`]),
      ...(before === null ? [] : [sql`last_updated < ${timeSql(before)}`]),
      ...(matching === null ? [] : [sql`thread_id IN (${turnsThat(matching)})`]),
    ]
    const read = (rows: MergedRows) =>
      select<Thread>(
        reader,
        sql`SELECT assumeNotNull(thread_id) AS thread_id, count() AS turn_count, min(started) AS start_time,
          ifNull(max(ended), max(started)) AS last_updated, argMin(turn, tuple(started, turn)) AS first_turn_id,
          if(max(ended) IS NULL, NULL, argMax(turn, tuple(ended, turn))) AS last_turn_id,
          ${raw(percentile(0.5))} AS p50_turn_duration_ms, ${raw(percentile(0.99))} AS p99_turn_duration_ms
        FROM (${turnsOf(compiled, rows)})
        GROUP BY thread_id HAVING ${allOf(conditions)}
        ${pageSql(query, FIELDS, 'thread_id ASC')} ${SETTINGS}`,
      )
    const found = await readManyCalls(reader, compiled, read)
    return found.map((thread) => ({
      ...thread,
      start_time: instantFrom(thread.start_time),
      last_updated: instantFrom(thread.last_updated),
    }))
  }

/** A page of the turns of a thread, by their starts. */
export const turnKeys = (
  reader: ClickHouseReader,
  {
    projectId,
    threadId,
    position,
  }: Pick<ThreadQuery, 'projectId' | 'position'> & { readonly threadId: string },
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly CallKey[]> => {
  const filter = { ...NO_FILTER, thread_ids: [threadId] }
  const compiled = compileSelection({ projectId, filter, operation: IS_TURN, position }, [])
  return readManyCalls(reader, compiled, (rows) =>
    select<CallKey>(
      reader,
      sql`SELECT turn AS id, started AS started_at FROM (${turnsOf(compiled, rows)})
        ORDER BY started_at ASC, id ASC ${limitSql(limit, offset)} ${SETTINGS}`,
    ),
  )
}

export interface Turn extends CallKey {
  readonly thread_id: string
  readonly trace_id: string
  readonly parent_id: string | null
}

const TURN = sql`assumeNotNull(call_thread_id) AS thread_id, call_id AS id, call_started_at AS started_at,
  assumeNotNull(call_trace_id) AS trace_id, call_parent_id AS parent_id`
const BY_TRACE = [{ field: 'trace_id', direction: 'asc' }] as const
/** Each part selects all turns again. */
const TURNS_AT_ONCE = 5000

/** The turns of some threads in the order of their traces. */
export const turnParts = (
  reader: ClickHouseReader,
  { projectId, threadIds, position }: Pick<ThreadQuery, 'projectId' | 'threadIds' | 'position'>,
): AsyncGenerator<readonly Turn[]> => {
  const filter = { ...NO_FILTER, thread_ids: threadIds }
  const page = { sortBy: BY_TRACE, limit: null, offset: null }
  return callParts<Turn>(
    reader,
    TURN,
    { projectId, filter, operation: IS_TURN, position, ...page },
    TURNS_AT_ONCE,
  )
}
