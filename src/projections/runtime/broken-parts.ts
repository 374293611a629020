import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Log } from '../../kernel/ports/log.js'
import { KEPT_TABLES } from '../rebuilds/table-identities.js'

const BROKEN = `
  SELECT table, toUInt32(count()) AS parts FROM system.detached_parts
  WHERE database = {database:String} AND startsWith(reason, 'broken') AND table NOT IN {others:Array(String)}
  GROUP BY table ORDER BY table`

/**
 * Logs the tables that the engine has detached unreadable parts from. Answers may lack their rows, even though they were
 * inserted. A rebuild replaces these tables.
 */
export const logBrokenParts = async (
  reader: Pick<ClickHouseReader, 'query'>,
  database: string,
  log: Pick<Log, 'error'>,
): Promise<void> => {
  const tables = await reader.query<{ table: string; parts: number }>(BROKEN, {
    database,
    others: KEPT_TABLES,
  })
  if (tables.length === 0) return
  log.error('projection.parts_broken', {
    tables: tables.map(({ table }) => table),
    parts: tables.reduce((sum, { parts }) => sum + parts, 0),
    what_to_do: 'rebuild the read models from the log: tallytree rebuild',
  })
}
