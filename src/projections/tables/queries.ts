import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'

export { knownRows, rowsByDigest } from './row-contents.js'
export { rowValues, rowValuesByIndex } from './row-values.js'
export { tableOrder, type TableOrder, type TableQuestion } from './table-order.js'
export type { SortBy } from './sorting.js'

export interface TableStats {
  readonly digest: string
  readonly row_count: number
}

/** Of the given tables, those that are there at a position. */
export const tableStats =
  (reader: ClickHouseReader) =>
  (projectId: string, digests: readonly string[], position: Position): Promise<readonly TableStats[]> =>
    reader.query<TableStats>(
      `SELECT digest, max(row_count) AS row_count FROM tables
      WHERE project_id = {project:String} AND digest IN {digests:Array(String)} AND position <= {position:UInt64}
      GROUP BY digest`,
      { project: projectId, digests, position },
    )

/** How many bytes of JSON the rows of tables hold, a row counted as often as it stands in its table. */
export const tableBytes =
  (reader: ClickHouseReader) =>
  async (projectId: string, digests: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    const rows = await reader.query<{ table_digest: string; bytes: number }>(
      `SELECT table_digest, sum(contents.bytes) AS bytes FROM
        (SELECT table_digest, arrayJoin(row_digests) AS row_digest FROM table_entries FINAL
        WHERE project_id = {project:String} AND table_digest IN {digests:Array(String)}) AS entries
      ANY LEFT JOIN
        (SELECT digest, bytes FROM table_rows
        WHERE project_id = {project:String} AND digest IN (SELECT arrayJoin(row_digests) FROM table_entries
          WHERE project_id = {project:String} AND table_digest IN {digests:Array(String)})) AS contents
      ON contents.digest = entries.row_digest
      GROUP BY table_digest`,
      { project: projectId, digests },
    )
    return new Map(rows.map(({ table_digest, bytes }) => [table_digest, bytes]))
  }
