import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { instantFrom } from '../clickhouse-values.js'
import type { OrderBy } from '../expression/order.js'
import { condition, NO_FILTER } from './filter.js'
import { selection, SETTINGS, type CallsAsked } from './selection.js'
import { FIELDS, PAYLOAD, type PayloadColumn, type StoredCall } from './stored-call.js'

export { NO_FILTER, type CallsFilter } from './filter.js'
export { opOf } from './op-names.js'
export { callSizes, traceSizesInBytes } from './sizes.js'
export { isCallField } from './call-fields.js'
export type { OrderBy } from '../expression/order.js'
export type { StoredCall } from './stored-call.js'

export interface CallsQuestion extends CallsAsked {
  readonly sortBy: readonly OrderBy[]
  readonly limit: number | null
  readonly offset: number | null
}

export interface CallId {
  readonly id: string
  /** The size of its payload, so that pages can be cut before they are read. */
  readonly bytes: number
}

/**
 * The ids of the calls that a filter and an operation select, in order.
 *
 * @throws UnknownField
 */
export const callIds =
  (reader: ClickHouseReader) =>
  async ({ sortBy, limit, offset, ...asked }: CallsQuestion): Promise<readonly CallId[]> => {
    const { sql, order, parameters } = selection('call_id AS id, call_bytes AS bytes', asked, sortBy)
    const range = limit === null ? '' : 'LIMIT {limit:UInt64}'
    return reader.query<CallId>(
      `${sql} ORDER BY ${order.join(', ')} ${range} OFFSET {offset:UInt64} ${SETTINGS}`,
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
      .map((field) => `${FIELDS[field]} AS field_${field}`)
    const rows = await reader.query<Record<string, unknown>>(
      `SELECT ${fields.join(', ')} FROM calls FINAL WHERE ${sql}`,
      parameters,
    )
    const found = new Map(rows.map((row) => [row['field_id'], storedCall(row)]))
    return ids.flatMap((id) => found.get(id) ?? [])
  }

/**
 * How many calls a filter and an operation select, counted up to a limit.
 *
 * @throws UnknownField
 */
export const countCalls = (reader: ClickHouseReader) => async (asked: CallsAsked, limit: number | null) => {
  const { sql, parameters } = selection('count() AS total, sum(call_bytes) AS bytes', asked)
  const [row] = await reader.query<{ total: number; bytes: number }>(`${sql} ${SETTINGS}`, parameters)
  const { total, bytes } = row ?? { total: 0, bytes: 0 }
  return { count: Math.min(total, limit ?? Infinity), has_more: limit !== null && total > limit, bytes }
}

const storedCall = (row: Readonly<Record<string, unknown>>): StoredCall =>
  Object.fromEntries(
    Object.keys(FIELDS).map((field) => [field, instantOrSame(field, row[`field_${field}`] ?? null)]),
  ) as unknown as StoredCall

const instantOrSame = (field: string, value: unknown): unknown =>
  typeof value === 'string' && (field === 'started_at' || field === 'ended_at') ? instantFrom(value) : value
