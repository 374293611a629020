import { REGISTRY_PREFIX } from '../domain/artifacts/place.js'
import type { Instant } from '../kernel/codec/instant.js'
import type { ClickHouseReader } from '../kernel/ports/clickhouse.js'
import { instantFrom } from './clickhouse-values.js'

const TIMES = {
  projects: 'created_at',
  run_changes: 'at',
  artifact_versions: 'made_at',
  calls: 'started_at',
  object_versions: 'created_at',
}

/** The registration, or the first run, artifact, call or object, of each project of a team, or of one project. Registries are no projects. */
export const firstWrites =
  (reader: Pick<ClickHouseReader, 'query'>) =>
  async (team: string, project?: string): Promise<ReadonlyMap<string, Instant>> => {
    const selected =
      project === undefined
        ? 'startsWith(project_id, {prefix:String}) AND NOT startsWith(project_id, {registries:String})'
        : 'project_id = {project:String}'
    const firsts = Object.entries(TIMES).map(
      ([table, time]) =>
        `SELECT CAST(project_id, 'String') AS project, min(toNullable(${time})) AS first FROM ${table}
        WHERE ${selected} GROUP BY project`,
    )
    const rows = await reader.query<{ project: string; first: string }>(
      `SELECT project, min(first) AS first FROM (${firsts.join(' UNION ALL ')})
      GROUP BY project HAVING first IS NOT NULL ORDER BY project`,
      project === undefined
        ? { prefix: `${team}/`, registries: `${team}/${REGISTRY_PREFIX}` }
        : { project: `${team}/${project}` },
    )
    return new Map(rows.map(({ project: id, first }) => [id, instantFrom(first)]))
  }
