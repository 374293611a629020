import type { ClickHouseReader } from '../kernel/ports/clickhouse.js'
import { raw, sql, statementOf } from './sql.js'

const backquoted = (name: string): string => `\`${name.replaceAll(/[\\`]/g, '\\$&')}\``

/** Rows as a file that the engine writes. Each list is a JSON list of rows, which are lists in the order of the columns. */
export const parquetOf = (
  reader: Pick<ClickHouseReader, 'stream'>,
  columns: Readonly<Record<string, string>>,
  lists: readonly string[],
): AsyncIterable<Uint8Array> => {
  const names = Object.keys(columns)
  const selected = names.map((name, index) => `row.${index + 1} AS ${backquoted(name)}`).join(', ')
  const types = raw(Object.values(columns).join(', ').replaceAll("'", "\\'"))
  const { text, parameters } = statementOf(
    sql`SELECT ${raw(selected)}
    FROM (SELECT arrayJoin(JSONExtract(arrayJoin(${lists}), 'Array(Tuple(${types}))')) AS row)`,
  )
  return reader.stream(text, parameters, { format: 'Parquet' })
}
