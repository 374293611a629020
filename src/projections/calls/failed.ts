import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { select, sql, typed } from '../sql.js'

/** The positions of the ends of failed calls before a position, newest first, with those of deleted calls. */
export const failedCallEnds = async (
  reader: Pick<ClickHouseReader, 'query'>,
  project: string,
  before: Position,
  limit: number,
): Promise<readonly Position[]> => {
  const rows = await select<{ readonly ended: string }>(
    reader,
    sql`SELECT DISTINCT toString(ended_position) AS ended, assumeNotNull(ended_position) AS position FROM calls
      WHERE project_id = ${project} AND ended_position < ${before} AND exception != ''
      ORDER BY position DESC LIMIT ${typed('UInt64', limit)}`,
  )
  return rows.map(({ ended }) => BigInt(ended))
}
