import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { fieldValue } from '../expression/fields.js'
import { newParameters } from '../expression/parameters.js'
import { asText } from '../expression/value.js'
import { statementFields } from './fields.js'
import { NO_FILTER } from './filter.js'
import { compileSelection, readManyCalls, SETTINGS, type CallSelection } from './select.js'

/** Cells and values are shown on one line, so more characters are of no use. */
const CHARACTERS = 300

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
  const parameters = newParameters('v')
  const cells = names.map(
    (name) => `leftUTF8(${asText(fieldValue(fields, name, parameters))}, ${CHARACTERS})`,
  )
  const selection = { projectId, filter: { ...NO_FILTER, call_ids: callIds }, operation: null, position }
  const compiled = compileSelection(selection, [])
  const rows = await reader.query<{ id: string; cells: readonly (string | null)[] }>(
    `${compiled.selected(`call_id AS id, array(${cells.join(', ')}) AS cells`, { joins: joins() })} ${SETTINGS}`,
    { ...compiled.parameters, ...parameters.all() },
  )
  return new Map(rows.map(({ id, cells }) => [id, cells]))
}

export interface FieldValues {
  readonly value: string
  readonly calls: number
}

/**
 * The values of a field that most calls have. `contains` ignores case.
 *
 * @throws UnknownField
 */
export const commonValues = async (
  reader: ClickHouseReader,
  selection: CallSelection,
  name: string,
  { contains, limit }: { readonly contains: string; readonly limit: number },
): Promise<readonly FieldValues[]> => {
  const { fields, joins } = statementFields()
  const parameters = newParameters('v')
  const value = asText(fieldValue(fields, name, parameters))
  const compiled = compileSelection(selection, [])
  const rows = await readManyCalls(reader, compiled, (merged) =>
    reader.query<{ value: string; calls: string }>(
      `SELECT value, count() AS calls FROM (
        ${compiled.selected(`leftUTF8(${value}, ${CHARACTERS}) AS value`, { rows: merged, joins: joins() })})
      WHERE value IS NOT NULL AND ({contains:String} = '' OR positionCaseInsensitiveUTF8(value, {contains:String}) > 0)
      GROUP BY value ORDER BY calls DESC, value LIMIT {values:UInt64} ${SETTINGS}`,
      { ...compiled.parameters, ...merged.parameters, ...parameters.all(), contains, values: limit },
    ),
  )
  return rows.map(({ value, calls }) => ({ value, calls: Number(calls) }))
}
