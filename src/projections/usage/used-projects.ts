import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { select, sql, typed } from '../sql.js'

/** The projects of a team that have calls. */
export const usedProjects = async (
  reader: Pick<ClickHouseReader, 'query'>,
  team: string,
  limit: number,
): Promise<readonly string[]> => {
  const rows = await select<{ project: string }>(
    reader,
    sql`SELECT DISTINCT CAST(project_id, 'String') AS project FROM usage_facts WHERE startsWith(project_id, ${`${team}/`})
    ORDER BY project LIMIT ${typed('UInt64', limit)}`,
  )
  return rows.map(({ project }) => project)
}
