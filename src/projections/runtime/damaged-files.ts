import {
  ClickHouseUnavailable,
  ReadTooExpensive,
  type ClickHouseReader,
} from '../../kernel/ports/clickhouse.js'
import { unlessRefused } from '../refused.js'
import { NAMES } from './table-note.js'

/**
 * Reads all files of the tables and compares them with their checksums. Replicated tables are left out, whose servers do so
 * themselves. Returns the tables with damaged files, in words.
 */
export const damagedFiles = async (
  reader: Pick<ClickHouseReader, 'query'>,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const parts = await unlessRefused(
    reader.query<{ table: string; name: string }>(
      `SELECT table, name FROM system.parts
      WHERE active AND database = currentDatabase() AND table IN {names:Array(String)}
      AND NOT match(engine, '^(Replicated|Shared)') ORDER BY table, name`,
      { names: NAMES },
    ),
  )
  const damaged = new Set<string>()
  for (const { table, name } of parts ?? []) {
    if (signal.aborted) return []
    if (!damaged.has(table) && !(await isWhole(reader, table, name))) damaged.add(table)
  }
  return [...damaged].map((table) => `files of ${table} are damaged`)
}

/** Whether the user of a server may compare files with their checksums. */
export const mayCheckFiles = (reader: Pick<ClickHouseReader, 'query'>): Promise<boolean> =>
  reader.query('CHECK TABLE schema_version').then(
    () => true,
    (error: unknown) => !(error instanceof ClickHouseUnavailable && error.why === 'refusing'),
  )

/** True also for a part that was merged meanwhile, and for one that is too large to be read within the limits of a read. */
const isWhole = async (
  reader: Pick<ClickHouseReader, 'query'>,
  table: string,
  part: string,
): Promise<boolean> => {
  try {
    const rows = await reader.query<{ is_passed: number }>(
      // Servers before 25.12 otherwise return one result without this column.
      `CHECK TABLE ${table} PART '${part}' SETTINGS check_query_single_value_result = 0`,
    )
    return rows.every(({ is_passed }) => is_passed === 1)
  } catch (error) {
    // A size that is wrong asks for more memory than there is.
    if (error instanceof ReadTooExpensive) return error.limit === 'time'
    if (error instanceof ClickHouseUnavailable) return error.why !== 'damaged'
    throw error
  }
}
