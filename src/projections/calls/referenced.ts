import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { REF_SCHEME } from '../../domain/refs/ref.js'
import { raw, select, sql, typed } from '../sql.js'
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
    const ref = refSql(fields, field)
    if (ref === undefined) return []
    const compiled = compileSelection(selection, [])
    const rows = await readManyCalls(reader, compiled, (merged) =>
      select<{ ref: string }>(
        reader,
        sql`SELECT DISTINCT ref FROM (${compiled.selected(sql`ifNull(${ref}, '') AS ref`, { rows: merged })})
        WHERE startsWith(ref, '${raw(REF_SCHEME)}') LIMIT ${typed('UInt64', limit)} ${SETTINGS}`,
      ),
    )
    return rows.map(({ ref }) => ref)
  }
