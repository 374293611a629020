import type { ClickHouseReader, ClickHouseWriter } from '../../domain/ports/clickhouse.js'

/** Tables that speak of the projecting itself. */
export const OF_THE_RUNTIME = ['migrations', 'checkpoints', 'rebuilds', 'source_log']

/** The identity of each table that is made from the log, by its name; it stays with the table when that is renamed. */
export const modelTables = async (
  clickHouse: Pick<ClickHouseReader, 'query'> | Pick<ClickHouseWriter, 'query'>,
  database: string,
): Promise<Readonly<Record<string, string>>> => {
  const rows = await clickHouse.query<{ name: string; identity: string }>(
    `SELECT name, toString(uuid) AS identity FROM system.tables
    WHERE database = {database:String} AND name NOT IN {others:Array(String)} ORDER BY name`,
    { database, others: OF_THE_RUNTIME },
  )
  return Object.fromEntries(rows.map(({ name, identity }) => [name, identity]))
}
