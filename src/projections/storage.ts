import type { ClickHouseReader } from '../kernel/ports/clickhouse.js'
import type { Position } from '../kernel/ports/event-store.js'
import { countCalls } from './calls/count.js'
import { asOf, versionsAsOf } from './objects/versions-as-of.js'

type Bytes = (projectId: string, position: Position) => Promise<number>

const sumOf =
  (reader: ClickHouseReader, sql: string): Bytes =>
  async (projectId, position) => {
    const [row] = await reader.query<{ bytes: number }>(sql, asOf(projectId, position))
    return row?.bytes ?? 0
  }

const OF_PROJECT = 'FINAL WHERE project_id = {project:String} AND position <= {position:UInt64}'

/** The bytes that a project stores, by kind, without what was deleted. Equal files and rows of tables are stored once. */
export const storedBytes = (reader: ClickHouseReader) => ({
  trace: (async (projectId, position) => {
    const everything = { projectId, filter: null, operation: null, position }
    return (await countCalls(reader)(everything, null, true)).bytes ?? 0
  }) satisfies Bytes,
  objects: sumOf(reader, `SELECT sum(val_bytes) AS bytes FROM (${versionsAsOf()})`),
  tables: sumOf(reader, `SELECT sum(bytes) AS bytes FROM table_rows ${OF_PROJECT}`),
  files: sumOf(reader, `SELECT sum(bytes) AS bytes FROM files ${OF_PROJECT}`),
})
