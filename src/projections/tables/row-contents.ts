import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { Strings } from '../usage/native.js'

/** JSON text by row digest. */
export type RowContents = ReadonlyMap<string, string>

/** What the given rows, some thousand at most, hold, whatever tables they stand in; rows that are not there are left out. */
export const rowsByDigest =
  (reader: ClickHouseReader) =>
  async (projectId: string, digests: readonly string[], position: Position): Promise<RowContents> => {
    if (digests.length === 0) return new Map()
    const rows = await reader.query<{ digest: string; json: string }>(
      `SELECT digest, val AS json FROM table_rows
      WHERE project_id = {project:String} AND digest IN {digests:Array(String)} AND position <= {position:UInt64}`,
      { project: projectId, digests: [...new Set(digests)], position },
    )
    return new Map(rows.map(({ digest, json }) => [digest, json]))
  }

/** Which of the given rows a project has. */
export const knownRows =
  (reader: ClickHouseReader) =>
  async (projectId: string, digests: readonly string[], position: Position): Promise<ReadonlySet<string>> => {
    const rows = await reader.query<{ digest: string }>(
      `SELECT DISTINCT digest FROM table_rows
      WHERE project_id = {project:String} AND digest IN {digests:Array(String)} AND position <= {position:UInt64}`,
      { project: projectId, digests, position },
    )
    return new Set(rows.map(({ digest }) => digest))
  }

export const textAt = ({ bytes, starts, ends }: Strings, row: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + starts[row]!, ends[row]! - starts[row]!).toString('utf8')
