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
export type { PayloadColumn, StoredCall } from './stored-call.js'

export interface CallsQuestion extends CallsAsked {
  readonly sortBy: readonly OrderBy[]
  readonly limit: number | null
  readonly offset: number | null
  /** Only those that come after this call in that order. */
  readonly after?: string | undefined
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
  async ({ sortBy, limit, offset, after, ...asked }: CallsQuestion): Promise<readonly CallId[]> => {
    const { sql, order, parameters } = selection('call_id AS id, call_bytes AS bytes', asked, sortBy, after)
    const range = limit === null ? '' : 'LIMIT {limit:UInt64}'
    return reader.query<CallId>(
      `${sql} ORDER BY ${order.join(', ')} ${range} OFFSET {offset:UInt64} ${SETTINGS}`,
      { ...parameters, ...(limit === null ? {} : { limit }), offset: offset ?? 0 },
    )
  }

/** So many ids are held at a time; each such page selects and sorts all calls anew, but keeps no more of them. */
const IDS_AT_ONCE = 20_000

/**
 * The same ids in pages, so that their memory does not grow with their number. What stands at a position does not change,
 * so that the pages are those of one moment.
 *
 * @throws UnknownField
 */
export async function* callIdPages(
  reader: ClickHouseReader,
  question: Omit<CallsQuestion, 'after'>,
  idsAtOnce = IDS_AT_ONCE,
): AsyncGenerator<readonly CallId[]> {
  let left = question.limit ?? Infinity
  let { offset } = question
  let after: string | undefined
  while (left > 0) {
    const limit = Math.min(left, idsAtOnce)
    const ids = await callIds(reader)({ ...question, limit, offset, after })
    if (ids.length > 0) yield ids
    if (ids.length < limit) return
    left -= limit
    offset = null
    after = ids.at(-1)!.id
  }
}

/** Reads the payload only of blocks with a wanted id. With FINAL, conditions on other columns stay behind the merge. */
const ID_FIRST = 'optimize_move_to_prewhere_if_final = 1'

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
      `SELECT ${fields.join(', ')} FROM calls FINAL WHERE ${sql} SETTINGS ${ID_FIRST}`,
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
