import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { fieldValue, type Fields } from '../expression/fields.js'
import { asText } from '../expression/value.js'
import { joined, raw, select, sql, typed, type Sql } from '../sql.js'
import { statementFields } from './fields.js'
import { NO_FILTER } from './filter.js'
import { compileSelection, readManyCalls, SETTINGS, type CallSelection } from './select.js'

/** Cells and values are shown on one line, so more characters are of no use. */
const CHARACTERS = 300

const textOf = (fields: Fields, name: string): Sql =>
  sql`leftUTF8(${asText(fieldValue(fields, name))}, ${raw(String(CHARACTERS))})`

/**
 * The texts of some fields of calls, by call; null where a call has no value.
 *
 * @throws UnknownField
 */
export const cellsOf = async (
  reader: ClickHouseReader,
  projectId: string,
  callIds: readonly string[],
  names: readonly string[],
  position: Position,
): Promise<ReadonlyMap<string, readonly (string | null)[]>> => {
  if (names.length === 0 || callIds.length === 0) return new Map()
  const { fields, joins } = statementFields()
  const cells = joined(names.map((name) => textOf(fields, name)))
  const selection = { projectId, filter: { ...NO_FILTER, call_ids: callIds }, operation: null, position }
  const compiled = compileSelection(selection, [])
  const rows = await select<{ id: string; cells: readonly (string | null)[] }>(
    reader,
    sql`${compiled.selected(sql`call_id AS id, array(${cells}) AS cells`, { joins: joins() })} ${SETTINGS}`,
  )
  return new Map(rows.map(({ id, cells }) => [id, cells]))
}

export interface FieldValues {
  readonly value: string
  readonly calls: number
}

interface CommonValues {
  readonly calls: number
  /** Of each field. */
  readonly values: readonly (readonly FieldValues[])[]
}

/**
 * The values of each field that most calls have, and the number of all calls, from one read. `contains` ignores case.
 *
 * @throws UnknownField
 */
export const commonValues = async (
  reader: ClickHouseReader,
  selection: CallSelection,
  names: readonly string[],
  { contains, limit }: { readonly contains: string; readonly limit: number },
): Promise<CommonValues> => {
  if (names.length === 0) return { calls: 0, values: [] }
  const { fields, joins } = statementFields()
  const keys = names.map((_, index) => raw(`key_${index}`))
  const columns = joined(
    names.map((name, index) => sql`${asText(fieldValue(fields, name))} AS ${keys[index]!}`),
  )
  const places = joined(keys.map((key, index) => sql`grouping(${key}) = 0, ${raw(String(index))}`))
  const compiled = compileSelection(selection, [])
  const rows = await readManyCalls(reader, compiled, (merged) =>
    select<{ place: number; value: string | null; calls: string }>(
      reader,
      sql`SELECT toFloat64(at) AS place, leftUTF8(whole, ${raw(String(CHARACTERS))}) AS value, sum(counted) AS calls
      FROM (SELECT multiIf(${places}, -1) AS at, coalesce(${joined(keys)}) AS whole, count() AS counted
        FROM (${compiled.selected(columns, { rows: merged, joins: joins() })})
        GROUP BY GROUPING SETS ((), ${joined(keys.map((key) => sql`(${key})`))}))
      WHERE at < 0 OR whole IS NOT NULL AND (${contains} = '' OR positionCaseInsensitiveUTF8(value, ${contains}) > 0)
      GROUP BY place, value ORDER BY place, calls DESC, value LIMIT ${typed('UInt64', limit)} BY place ${SETTINGS}`,
    ),
  )
  const at = (wanted: number) =>
    rows
      .filter(({ place }) => place === wanted)
      .map(({ value, calls }) => ({ value: value ?? '', calls: Number(calls) }))
  return { calls: at(-1)[0]?.calls ?? 0, values: names.map((_, index) => at(index)) }
}
