import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { REF_SCHEME } from '../../domain/refs/ref.js'
import { newParameters } from '../expression/parameters.js'
import { refSql } from './expansions.js'
import { statementFields } from './fields.js'
import { compileSelection, readManyCalls, SETTINGS, type CallSelection } from './select.js'

/**
 * The distinct references that the selected calls have in a column of JSON, up to a limit.
 *
 * @throws UnknownField
 */
export const refsInColumn =
  (reader: ClickHouseReader) =>
  async (selection: CallSelection, field: string, limit: number): Promise<readonly string[]> => {
    const { fields } = statementFields(undefined, selection.expansions)
    const parameters = newParameters('r')
    const ref = refSql(fields, field, parameters)
    if (ref === undefined) return []
    const compiled = compileSelection(selection, [])
    const rows = await readManyCalls(reader, compiled, (merged) =>
      reader.query<{ ref: string }>(
        `SELECT DISTINCT ref FROM (${compiled.selected(`ifNull(${ref}, '') AS ref`, { rows: merged })})
        WHERE startsWith(ref, '${REF_SCHEME}') LIMIT {refs:UInt64} ${SETTINGS}`,
        { ...compiled.parameters, ...merged.parameters, ...parameters.all(), refs: limit },
      ),
    )
    return rows.map(({ ref }) => ref)
  }
