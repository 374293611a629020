import type { ClickHouseWriter } from '../../kernel/ports/clickhouse.js'

/** These stay where they are when a rebuild exchanges the tables. */
export const KEPT_TABLES = ['schema_version', 'rebuilds']

/** The UUID of each table that a rebuild exchanges, by name. A table keeps it when it is renamed. */
export const tableIdentities = async (
  clickHouse: Pick<ClickHouseWriter, 'query'>,
  database: string,
): Promise<Readonly<Record<string, string>>> => {
  const rows = await clickHouse.query<{ name: string; identity: string }>(
    `SELECT name, toString(uuid) AS identity FROM system.tables
    WHERE database = {database:String} AND name NOT IN {kept:Array(String)} ORDER BY name`,
    { database, kept: KEPT_TABLES },
  )
  return Object.fromEntries(rows.map(({ name, identity }) => [name, identity]))
}
