import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { instantFrom } from '../clickhouse-values.js'
import { condition, NO_FILTER, type CallsFilter } from './filter.js'
import { FIELDS, PAYLOAD, type PayloadColumn, type StoredCall } from './stored-call.js'

export { NO_FILTER, type CallsFilter } from './filter.js'
export type { StoredCall } from './stored-call.js'

export interface SortBy {
  readonly field: SortField
  readonly direction: 'asc' | 'desc'
}

export type SortField = Exclude<keyof StoredCall, PayloadColumn>

export const SORT_FIELDS = (Object.keys(FIELDS) as (keyof StoredCall)[]).filter(
  (field): field is SortField => !(PAYLOAD as readonly string[]).includes(field),
)

export interface CallsQuestion {
  readonly projectId: string
  readonly filter: CallsFilter | null
  readonly position: Position
  readonly sortBy: readonly SortBy[]
  readonly limit: number | null
  readonly offset: number | null
}

export interface CallId {
  readonly id: string
  /** The size of its payload, so that pages can be cut before they are read. */
  readonly bytes: number
}

/** The ids of the calls that a filter selects, in order. */
export const callIds =
  (reader: ClickHouseReader) =>
  ({ projectId, filter, position, sortBy, limit, offset }: CallsQuestion): Promise<readonly CallId[]> => {
    const { sql, parameters } = condition(projectId, filter, position)
    const by = sortBy.map(({ field, direction }) => `${masked(field)} ${direction.toUpperCase()} NULLS LAST`)
    const order = sortBy.some(({ field }) => field === 'id') ? by : [...by, 'id ASC']
    const range = limit === null ? '' : 'LIMIT {limit:UInt64}'
    return reader.query<CallId>(
      `SELECT id, ifNull(start_bytes, 0) + ifNull(end_bytes, 0) AS bytes
      FROM calls FINAL WHERE ${sql} ORDER BY ${order.join(', ')} ${range} OFFSET {offset:UInt64}`,
      { ...parameters, ...(limit === null ? {} : { limit }), offset: offset ?? 0 },
    )
  }

/** The given calls as they stood at a position, in the order of the ids; those that are not there are left out. */
export const callsById =
  (reader: ClickHouseReader) =>
  async (
    projectId: string,
    ids: readonly string[],
    position: Position,
    payload: readonly PayloadColumn[] = PAYLOAD,
  ): Promise<readonly StoredCall[]> => {
    const { sql, parameters } = condition(projectId, { ...NO_FILTER, call_ids: ids }, position)
    const fields = (Object.keys(FIELDS) as (keyof StoredCall)[])
      .filter(
        (field) =>
          !(PAYLOAD as readonly string[]).includes(field) || payload.includes(field as PayloadColumn),
      )
      .map((field) => `${masked(field)} AS field_${field}`)
    const rows = await reader.query<Record<string, unknown>>(
      `SELECT ${fields.join(', ')} FROM calls FINAL WHERE ${sql}`,
      parameters,
    )
    const found = new Map(rows.map((row) => [row['field_id'], storedCall(row)]))
    return ids.flatMap((id) => found.get(id) ?? [])
  }

/** How many calls a filter selects, counted up to a limit. */
export const countCalls =
  (reader: ClickHouseReader) =>
  async (projectId: string, filter: CallsFilter | null, position: Position, limit: number | null) => {
    const { sql, parameters } = condition(projectId, filter, position)
    const [row] = await reader.query<{ total: number }>(
      `SELECT count() AS total FROM calls FINAL WHERE ${sql}`,
      parameters,
    )
    const total = row?.total ?? 0
    return { count: Math.min(total, limit ?? Infinity), has_more: limit !== null && total > limit }
  }

const OF_THE_END = new Set(['ended_at', 'exception', 'output', 'summary', 'wb_run_step_end'])

/** What the end brought is not there yet at a position before it. */
const masked = (field: keyof StoredCall): string =>
  OF_THE_END.has(field) ? `if(ended_position <= {position:UInt64}, ${FIELDS[field]}, NULL)` : FIELDS[field]

const storedCall = (row: Readonly<Record<string, unknown>>): StoredCall =>
  Object.fromEntries(
    Object.keys(FIELDS).map((field) => [field, instantOrSame(field, row[`field_${field}`] ?? null)]),
  ) as unknown as StoredCall

const instantOrSame = (field: string, value: unknown): unknown =>
  typeof value === 'string' && (field === 'started_at' || field === 'ended_at') ? instantFrom(value) : value
