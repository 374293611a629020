import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { mapInSteps } from '../../kernel/yield-to-event-loop.js'
import type { Position } from '../../kernel/ports/event-store.js'
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
import { allOf, ofProject, raw, select, sql, type Sql } from '../sql.js'
import { filterConditions, NO_FILTER, type CallsFilter } from './filter.js'
import { locate } from './locate.js'
import { atTimes, KEY_FIRST, VISIBLE, type CallKey } from './select.js'

/** Reads calls by id as of a position, in the order of the ids. Omits missing and deleted calls. */
export const callsById =
  (reader: ClickHouseReader) =>
  (
    projectId: string,
    ids: readonly string[],
    position: Position,
    payload: readonly PayloadColumn[] = PAYLOAD,
  ): Promise<readonly StoredCall[]> =>
    readCalls(reader, ids, visibleCalls(projectId, { ...NO_FILTER, call_ids: ids }, position), payload)

/** As {@link callsById}, for calls whose times are known. */
export const callsByKey =
  (reader: ClickHouseReader) =>
  (
    projectId: string,
    keys: readonly CallKey[],
    position: Position,
    payload: readonly PayloadColumn[] = PAYLOAD,
  ): Promise<readonly StoredCall[]> => {
    const ids = keys.map(({ id }) => id)
    const times = atTimes(keys.map(({ started_at }) => started_at))
    const condition = allOf([ofProject(projectId, position), times, sql`id IN ${ids}`, ...VISIBLE])
    return readCalls(reader, ids, condition, payload)
  }

const readCalls = async (
  reader: ClickHouseReader,
  ids: readonly string[],
  condition: Sql,
  payload: readonly PayloadColumn[],
): Promise<readonly StoredCall[]> => {
  if (ids.length === 0) return []
  const fields = callFields.filter((field) => !isPayload(field) || payload.includes(field))
  const columns = fields.map((field) => `${columnAsOf(field)} AS field_${field}`).join(', ')
  const rows = await select<Readonly<Record<string, unknown>>>(
    reader,
    sql`SELECT ${raw(columns)} FROM calls FINAL WHERE ${condition} ${KEY_FIRST}`,
  )
  const found = new Map(await mapInSteps(rows, (row) => [row['field_id'], storedCall(row)] as const))
  return ids.flatMap((id) => found.get(id) ?? [])
}

const isPayload = (field: CallField): field is PayloadColumn =>
  (PAYLOAD as readonly CallField[]).includes(field)

const visibleCalls = (projectId: string, filter: CallsFilter, position: Position): Sql =>
  allOf([
    ofProject(projectId, position),
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
  ) as StoredCall

type Sizes = ReadonlyMap<string, number>

/** The bytes of payload of each of the given calls. */
export const callSizes = (reader: ClickHouseReader) => sizesBy(reader, 'id', 'call_ids')

/** The bytes of payload of all calls of each of the given traces. */
export const traceSizesInBytes = (reader: ClickHouseReader) => sizesBy(reader, 'trace_id', 'trace_ids')

const sizesBy =
  (reader: ClickHouseReader, column: 'id' | 'trace_id', key: 'call_ids' | 'trace_ids') =>
  async (projectId: string, values: readonly string[], position: Position): Promise<Sizes> => {
    if (values.length === 0) return new Map()
    const rows = await select<{ name: string; bytes: number }>(
      reader,
      sql`SELECT ${raw(column)} AS name, sum(${raw(BYTES)}) AS bytes FROM calls FINAL
      WHERE ${visibleCalls(projectId, { ...NO_FILTER, [key]: values }, position)} GROUP BY name`,
    )
    return new Map(rows.map(({ name, bytes }) => [name, bytes]))
  }
