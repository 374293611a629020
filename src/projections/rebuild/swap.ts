import type { ClickHouse } from '../../domain/ports/clickhouse.js'
import { modelTables } from './model-tables.js'

/** Runs a statement of the schema, on all servers of a cluster where there is one. */
export type RunStatement = (statement: string) => Promise<void>

/**
 * Puts the tables made anew in the place of those in use, one after the other, each in one step that no read notices.
 * Run again after it was cut off, it goes on where it was: a table that is in its place already is left there.
 */
export const swapTables = async (
  { database, writer }: Pick<ClickHouse, 'database' | 'writer'>,
  besides: string,
  rebuilt: Readonly<Record<string, string>>,
  run: RunStatement,
): Promise<void> => {
  const inUse = await modelTables(writer, database)
  for (const [table, identity] of Object.entries(rebuilt))
    if (inUse[table] !== identity) await run(`EXCHANGE TABLES ${database}.${table} AND ${besides}.${table}`)
}
