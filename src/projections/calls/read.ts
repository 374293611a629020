import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { instantFrom } from '../clickhouse-values.js'
import {
  BYTES,
  CALL_COLUMNS,
  callFields,
  columnAsOf,
  PAYLOAD,
  type CallField,
  type PayloadColumn,
  type StoredCall,
} from './columns.js'
import { filterConditions, NO_FILTER, type CallsFilter } from './filter.js'
import { locate } from './locate.js'
import { allOf, selection, SETTINGS, VISIBLE, type CallSelection } from './select.js'

/** Reads payload only of blocks with a selected key. With FINAL, conditions on other columns apply after the merge. */
const KEY_FIRST = 'optimize_move_to_prewhere_if_final = 1'

/** The given calls as of a position, in the order of the ids, without those that are not visible. */
export const callsById =
  (reader: ClickHouseReader) =>
  async (
    projectId: string,
    ids: readonly string[],
    position: Position,
    payload: readonly PayloadColumn[] = PAYLOAD,
  ): Promise<readonly StoredCall[]> => {
    if (ids.length === 0) return []
    const fields = callFields.filter((field) => !isPayload(field) || payload.includes(field))
    const rows = await reader.query<Readonly<Record<string, unknown>>>(
      `SELECT ${fields.map((field) => `${columnAsOf(field)} AS field_${field}`).join(', ')}
      FROM calls FINAL WHERE ${visibleCalls({ ...NO_FILTER, call_ids: ids })} SETTINGS ${KEY_FIRST}`,
      { project: projectId, position, call_ids: ids },
    )
    const found = new Map(rows.map((row) => [row['field_id'], storedCall(row)]))
    return ids.flatMap((id) => found.get(id) ?? [])
  }

const isPayload = (field: CallField): field is PayloadColumn =>
  (PAYLOAD as readonly CallField[]).includes(field)

const visibleCalls = (filter: CallsFilter): string =>
  allOf([
    'project_id = {project:String}',
    ...locate(filter, []).conditions,
    ...filterConditions('', filter).ofStart,
    ...VISIBLE,
  ])

const storedCall = (row: Readonly<Record<string, unknown>>): StoredCall =>
  Object.fromEntries(
    callFields.map((field) => {
      const value = row[`field_${field}`] ?? null
      const isInstant = CALL_COLUMNS[field].kind === 'instant' && typeof value === 'string'
      return [field, isInstant ? instantFrom(value) : value]
    }),
  ) as unknown as StoredCall

/**
 * How many calls are selected, counted up to a limit, and the bytes of their payload.
 *
 * @throws UnknownField
 */
export const countCalls =
  (reader: ClickHouseReader) => async (selected: CallSelection, limit: number | null) => {
    const { sql, parameters } = selection('count() AS total, sum(call_bytes) AS bytes', selected)
    const [row] = await reader.query<{ total: number; bytes: number }>(`${sql} ${SETTINGS}`, parameters)
    const { total, bytes } = row ?? { total: 0, bytes: 0 }
    return { count: Math.min(total, limit ?? Infinity), has_more: limit !== null && total > limit, bytes }
  }

type Sizes = ReadonlyMap<string, number>

/** The bytes of payload of each of the given calls. */
export const callSizes = (reader: ClickHouseReader) => sizesBy(reader, 'id', 'call_ids')

/** The bytes of payload of all calls of each of the given traces. */
export const traceSizesInBytes = (reader: ClickHouseReader) => sizesBy(reader, 'trace_id', 'trace_ids')

const sizesBy =
  (reader: ClickHouseReader, column: 'id' | 'trace_id', key: 'call_ids' | 'trace_ids') =>
  async (projectId: string, values: readonly string[], position: Position): Promise<Sizes> => {
    if (values.length === 0) return new Map()
    const rows = await reader.query<{ name: string; bytes: number }>(
      `SELECT ${column} AS name, sum(${BYTES}) AS bytes FROM calls FINAL
      WHERE ${visibleCalls({ ...NO_FILTER, [key]: values })} GROUP BY name`,
      { project: projectId, position, [key]: values },
    )
    return new Map(rows.map(({ name, bytes }) => [name, bytes]))
  }
