import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Instant } from '../../kernel/codec/instant.js'
import { instantFrom } from '../clickhouse-values.js'

export interface TeamProject {
  readonly name: string
  /** Started calls, including deleted ones. */
  readonly calls: number
  readonly last_call_at: Instant | null
  readonly object_versions: number
}

/** The projects of a team that have calls or objects. Counts rows without merging them, which is fast and close enough. */
export const teamProjects = async (
  reader: Pick<ClickHouseReader, 'query'>,
  team: string,
): Promise<readonly TeamProject[]> => {
  const rows = await reader.query<{ project: string; calls: string; last: string | null; versions: string }>(
    `SELECT project, sum(calls) AS calls, max(last) AS last, sum(versions) AS versions FROM (
      SELECT CAST(project_id, 'String') AS project, countIf(started_position IS NOT NULL) AS calls,
        max(toNullable(started_at)) AS last, 0 AS versions
      FROM calls WHERE startsWith(project_id, {prefix:String}) GROUP BY project
      UNION ALL
      SELECT project_id AS project, 0 AS calls, NULL AS last, count() AS versions
      FROM object_versions WHERE startsWith(project_id, {prefix:String}) GROUP BY project)
    GROUP BY project ORDER BY last DESC NULLS LAST, project`,
    { prefix: `${team}/` },
  )
  return rows.map(({ project, calls, last, versions }) => ({
    name: project.slice(team.length + 1),
    calls: Number(calls),
    last_call_at: last === null ? null : instantFrom(last),
    object_versions: Number(versions),
  }))
}
