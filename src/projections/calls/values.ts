import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { fieldValue, type Fields } from '../expression/fields.js'
import { asText } from '../expression/value.js'
import { joined, raw, select, sql, typed, type Sql } from '../sql.js'
import { sourceOf, statementFields } from './fields.js'
import { NO_FILTER } from './filter.js'
import { compileSelection, NOT_DELETED, readManyCalls, SETTINGS, type CallSelection } from './select.js'

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

export interface CommonValues {
  readonly calls: number
  /** Of each field. */
  readonly values: readonly (readonly FieldValues[])[]
}

/** A value of a row that was counted as `whole`. */
export const SHOWN_VALUE = raw(`leftUTF8(whole, ${CHARACTERS}) AS value`)

/**
 * The columns of fields whose values are counted by grouping sets, their names, and for `multiIf` which of them a row counts.
 *
 * @throws UnknownField
 */
export const countedFields = (names: readonly string[]) => {
  const { fields, joins } = statementFields()
  const keys = names.map((_, index) => raw(`key_${index}`))
  const columns = names.map((name, index) => sql`${asText(fieldValue(fields, name))} AS ${keys[index]!}`)
  return {
    ...{ columns, keys, joins: joins() },
    places: keys.map((key, index) => sql`grouping(${key}) = 0, ${raw(String(index))}`),
    sets: keys.map((key) => sql`(${key})`),
  }
}

/**
 * The values of each field that most calls have, and the number of all calls, from one read. `contains` ignores case. Few
 * calls are not merged where the rows of their starts have all that is read, as planning the merge takes longer.
 *
 * @throws UnknownField
 */
export const commonValues = async (
  reader: ClickHouseReader,
  selection: CallSelection,
  names: readonly string[],
  { contains, limit, areFew = false }: ValuesOptions,
): Promise<CommonValues> => {
  if (names.length === 0) return { calls: 0, values: [] }
  const { columns, joins, keys, places, sets } = countedFields(names)
  const compiled = compileSelection(selection, [])
  const count = (calls: Sql) =>
    select<{ place: number; value: string | null; calls: string }>(
      reader,
      sql`SELECT toFloat64(at) AS place, ${SHOWN_VALUE}, sum(counted) AS calls
      FROM (SELECT multiIf(${joined(places)}, -1) AS at, coalesce(${joined(keys)}) AS whole, count() AS counted
        FROM (${calls}) GROUP BY GROUPING SETS ((), ${joined(sets)}))
      WHERE at < 0 OR whole IS NOT NULL AND (${contains} = '' OR positionCaseInsensitiveUTF8(value, ${contains}) > 0)
      GROUP BY place, value ORDER BY place, calls DESC, value LIMIT ${typed('UInt64', limit)} BY place ${SETTINGS}`,
    )
  const isOfStarts = compiled.isDecidedByStart && names.every((name) => IN_STARTS.has(sourceOf(name)))
  const rows =
    areFew && isOfStarts
      ? await count(
          sql`${compiled.candidates(joined([...columns, sql`call_started_at, call_id`]), [NOT_DELETED])}
          LIMIT 1 BY call_started_at, call_id`,
        )
      : await readManyCalls(reader, compiled, (merged) =>
          count(compiled.selected(joined(columns), { rows: merged, joins })),
        )
  const at = (wanted: number) =>
    rows
      .filter(({ place }) => place === wanted)
      .map(({ value, calls }) => ({ value: value ?? '', calls: Number(calls) }))
  return { calls: at(-1)[0]?.calls ?? 0, values: names.map((_, index) => at(index)) }
}

interface ValuesOptions {
  readonly contains: string
  readonly limit: number
  /** At most some 100,000 calls are selected. */
  readonly areFew?: boolean
}

const IN_STARTS = new Set<string | undefined>(['key', 'start'])
