import { REGISTRY_PREFIX } from '../../domain/artifacts/place.js'
import type { Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { instantFrom } from '../clickhouse-values.js'
import { raw, select, sql, typed, type Sql } from '../sql.js'
import { DELETED } from '../runs/project.js'

export interface TeamProject {
  readonly name: string
  /** Started calls, including deleted ones. */
  readonly calls: number
  readonly last_call_at: Instant | null
  readonly object_versions: number
  /** Versions that exist. */
  readonly artifacts: number
  readonly runs: number
}

interface Selection {
  readonly team: string
  /** Part of the name, in any case. */
  readonly contains: string
  readonly limit: number
}

/** Counts rows of calls and objects without merging them, which is fast and close enough. */
const countsOf = (prefix: string): Sql => sql`
  SELECT CAST(project_id, 'String') AS project, countIf(started_position IS NOT NULL) AS calls,
    max(toNullable(started_at)) AS last, 0 AS versions, 0 AS artifacts, 0 AS runs
  FROM calls WHERE startsWith(project_id, ${prefix}) GROUP BY project
  UNION ALL
  SELECT project_id AS project, 0 AS calls, NULL AS last, 0 AS versions, 0 AS artifacts, 0 AS runs
  FROM projects WHERE startsWith(project_id, ${prefix})
  UNION ALL
  SELECT project_id AS project, 0 AS calls, NULL AS last, count() AS versions, 0 AS artifacts, 0 AS runs
  FROM object_versions WHERE startsWith(project_id, ${prefix}) GROUP BY project
  UNION ALL
  SELECT project_id AS project, 0 AS calls, NULL AS last, 0 AS versions, count() AS artifacts, 0 AS runs
  FROM artifact_versions FINAL
  WHERE startsWith(project_id, ${prefix}) AND NOT startsWith(project_id, ${prefix + REGISTRY_PREFIX})
    AND artifact_id IS NOT NULL AND ended_position IS NULL
  GROUP BY project
  UNION ALL
  SELECT project, 0 AS calls, NULL AS last, 0 AS versions, 0 AS artifacts, count() AS runs
  FROM (
    SELECT project_id AS project, run_id FROM run_changes WHERE startsWith(project_id, ${prefix})
    GROUP BY project, run_id HAVING argMax(state, position) != '${raw(DELETED)}'
  ) GROUP BY project`

/** The projects of a team that were registered or have calls, objects, artifacts or runs, the one with the last call first. */
export const teamProjects = async (
  reader: Pick<ClickHouseReader, 'query'>,
  { team, contains, limit }: Selection,
): Promise<readonly TeamProject[]> => {
  const prefix = `${team}/`
  const rows = await select<
    Record<'project' | 'calls' | 'versions' | 'artifacts' | 'runs', string> & { last: string | null }
  >(
    reader,
    sql`SELECT project, sum(calls) AS calls, max(last) AS last, sum(versions) AS versions, sum(artifacts) AS artifacts,
      sum(runs) AS runs
    FROM (${countsOf(prefix)}) WHERE positionCaseInsensitiveUTF8(substring(project, length(${prefix}) + 1), ${contains}) > 0
    GROUP BY project ORDER BY last DESC NULLS LAST, project LIMIT ${typed('UInt64', limit)}`,
  )
  return rows.map(({ project, calls, last, versions, artifacts, runs }) => ({
    name: project.slice(prefix.length),
    calls: Number(calls),
    last_call_at: last === null ? null : instantFrom(last),
    object_versions: Number(versions),
    artifacts: Number(artifacts),
    runs: Number(runs),
  }))
}
