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
import { filterConditions, NO_FILTER, type CallsFilter } from './filter.js'
import { locate } from './locate.js'
import { allOf, AT_TIMES, KEY_FIRST, VISIBLE, type CallKey, type Parameters } from './select.js'

/** Reads calls by id as of a position, in the order of the ids. Omits missing and deleted calls. */
export const callsById =
  (reader: ClickHouseReader) =>
  (
    projectId: string,
    ids: readonly string[],
    position: Position,
    payload: readonly PayloadColumn[] = PAYLOAD,
  ): Promise<readonly StoredCall[]> => {
    const condition = visibleCalls({ ...NO_FILTER, call_ids: ids })
    return readCalls(reader, condition, { project: projectId, position, call_ids: ids }, payload)
  }

/** As {@link callsById}, for calls whose times are known. */
export const callsByKey =
  (reader: ClickHouseReader) =>
  (projectId: string, keys: readonly CallKey[], position: Position): Promise<readonly StoredCall[]> => {
    const times = keys.map(({ started_at }) => started_at)
    const condition = allOf([
      'project_id = {project:String}',
      AT_TIMES,
      'id IN {call_ids:Array(String)}',
      ...VISIBLE,
    ])
    const call_ids = keys.map(({ id }) => id)
    return readCalls(reader, condition, { project: projectId, position, call_ids, times }, PAYLOAD)
  }

const readCalls = async (
  reader: ClickHouseReader,
  condition: string,
  parameters: Parameters & { readonly call_ids: readonly string[] },
  payload: readonly PayloadColumn[],
): Promise<readonly StoredCall[]> => {
  const ids = parameters.call_ids
  if (ids.length === 0) return []
  const fields = callFields.filter((field) => !isPayload(field) || payload.includes(field))
  const rows = await reader.query<Readonly<Record<string, unknown>>>(
    `SELECT ${fields.map((field) => `${columnAsOf(field)} AS field_${field}`).join(', ')}
      FROM calls FINAL WHERE ${condition} ${KEY_FIRST}`,
    parameters,
  )
  const found = new Map(await mapInSteps(rows, (row) => [row['field_id'], storedCall(row)] as const))
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
