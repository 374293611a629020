import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'

type Querying = Pick<ClickHouseReader, 'query'>

const EXISTING = 'artifact_id IS NOT NULL AND ended_position IS NULL'

export interface ListedCollection {
  readonly collection: string
  readonly type: string | null
}

/** The collections of a project, or of the one that clients see for a registry, by name, of one type or of all. */
export const collectionsOf =
  (reader: Querying) =>
  (project: string, type: string | null): Promise<readonly ListedCollection[]> =>
    reader.query(
      `SELECT collection, any(artifact_versions.type) AS type FROM artifact_versions FINAL
      WHERE project_id = {project:String} AND ${EXISTING} ${type === null ? '' : 'AND artifact_versions.type = {type:String}'}
      GROUP BY collection ORDER BY collection`,
      { project, ...(type === null ? {} : { type }) },
    )

export interface Membership {
  readonly project_id: string
  readonly collection: string
}

/** The registry collections of a team that link to a version. */
export const linksTo =
  (reader: Querying) =>
  (registries: string, artifact: string): Promise<readonly Membership[]> =>
    reader.query(
      `SELECT project_id, collection FROM artifact_versions FINAL
      WHERE startsWith(project_id, {registries:String}) AND artifact_id = {artifact:String} AND ${EXISTING}
      ORDER BY project_id, collection`,
      { registries, artifact },
    )

export interface MadeVersion {
  readonly collection: string
  readonly artifact_id: string
}

/** The versions that a run logged, in the order of their making. `alone` leaves out versions of other runs. */
export const madeBy =
  (reader: Querying) =>
  (project: string, run: string, { alone = false } = {}): Promise<readonly MadeVersion[]> =>
    reader.query(
      `SELECT collection, assumeNotNull(artifact_id) AS artifact_id FROM artifact_versions FINAL
      WHERE project_id = {project:String} AND ${EXISTING} AND (collection, version) IN (
        SELECT collection, version FROM artifact_makers WHERE project_id = {project:String} AND run_id = {run:String}
      ) ${alone ? `AND (collection, version) NOT IN (${OF_OTHERS})` : ''} ORDER BY made_position`,
      { project, run },
    )

const OF_OTHERS = `
  SELECT collection, version FROM artifact_makers WHERE project_id = {project:String} AND run_id != {run:String}
  AND run_id NOT IN (SELECT run_id FROM run_changes WHERE project_id = {project:String} AND state = 'deleted')`
