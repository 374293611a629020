import type { Json } from '../../kernel/json/json.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { CompilePattern } from '../../kernel/ports/patterns.js'
import { pageSql } from '../expression/page.js'
import { raw, select, sql, type Sql } from '../sql.js'
import { JSON_SETTINGS, readableJson } from '../expression/readable-json.js'
import { DELETED, LAST } from './project.js'
import { compileRunFilter, fieldsOf, orderOf } from './filter.js'

export interface RunSelection {
  readonly project: string
  /** In the form of MongoDB; `{}` selects all. */
  readonly filter: Json
  /** The runs as of this position; undefined for the present. */
  readonly asOf?: Position | undefined
}

export interface RunPage extends RunSelection {
  /** Such as `-created_at`. */
  readonly order: string
  readonly limit: number
  readonly offset: number
}

/**
 * A configuration without the objects that have its values under `value`. A value is also under its key with `.value`: a
 * filter may name either.
 */
const valuesOf = (config: string): string => {
  const key = (text: string) => `replaceAll(toJSONString(${text}), '\\\\/', '/')`
  const value = `if(JSONHas(m.2, 'value'), JSONExtractRaw(m.2, 'value'), m.2)`
  const members = `concat(${key('m.1')}, ':', ${value}, ',', ${key("concat(m.1, '.value')")}, ':', ${value})`
  return `concat('{', arrayStringConcat(arrayMap(m -> ${members}, JSONExtractKeysAndValuesRaw(ifNull(${config}, ''))), ','), '}')`
}

/** Runs with the last value of each column. In the past they have no summary, since only the last one is kept. */
const runsOf = ({
  project,
  asOf,
}: RunSelection): Sql => sql`SELECT changed.*, ${raw(valuesOf(readableJson('config')))} AS readable_config, ${raw(readableJson('summary'))} AS readable_summary
  FROM (
    SELECT run_id, ${raw(LAST.map((column) => `argMax(${column}, position) AS ${column}`).join(', '))}
    FROM run_changes WHERE project_id = ${project} AND ${asOf === undefined ? sql`true` : sql`position <= ${asOf}`} GROUP BY run_id
    HAVING state != '${raw(DELETED)}'
  ) AS changed
  LEFT JOIN (
    SELECT run_id, argMax(toNullable(summary), position) AS summary
    FROM run_summaries WHERE project_id = ${project} AND ${asOf === undefined ? sql`true` : sql`false`} GROUP BY run_id
  ) AS summed USING run_id`

/** The ids of the runs that a filter selects, in order. */
export const runIds =
  (reader: Pick<ClickHouseReader, 'query'>, compilePattern: CompilePattern) =>
  async ({ order, limit, offset, ...selection }: RunPage): Promise<readonly string[]> => {
    const fields = fieldsOf(selection)
    const page = pageSql({ order: orderOf(order, fields), limit, offset }, fields, 'run_id ASC')
    const rows = await select<{ run_id: string }>(
      reader,
      sql`SELECT run_id FROM (${runsOf(selection)}) WHERE ${compileRunFilter(selection.filter, compilePattern, fields)} ${page}
      SETTINGS ${raw(JSON_SETTINGS)}`,
    )
    return rows.map(({ run_id }) => run_id)
  }

export const countRuns =
  (reader: Pick<ClickHouseReader, 'query'>, compilePattern: CompilePattern) =>
  async (selection: RunSelection): Promise<number> => {
    const [row] = await select<{ total: number }>(
      reader,
      sql`SELECT count() AS total FROM (${runsOf(selection)}) WHERE ${compileRunFilter(selection.filter, compilePattern, fieldsOf(selection))}
      SETTINGS ${raw(JSON_SETTINGS)}`,
    )
    return row?.total ?? 0
  }

export interface RunKey {
  readonly project_id: string
  readonly run_id: string
}

/** The runs of the package wandb, which says on which host they run, that did not end. */
export const runningRuns = (reader: Pick<ClickHouseReader, 'query'>): Promise<readonly RunKey[]> =>
  reader.query(
    `SELECT project_id, run_id FROM run_changes GROUP BY project_id, run_id
    HAVING argMax(state, position) = 'running' AND argMax(host, position) != ''`,
  )

/** The runs that used a version, by project and id. */
export const runsUsing =
  (reader: Pick<ClickHouseReader, 'query'>) =>
  (artifact: string): Promise<readonly RunKey[]> =>
    reader.query(
      `SELECT DISTINCT project_id, run_id FROM artifact_uses WHERE artifact_id = {artifact:String}
      ORDER BY project_id, run_id LIMIT 1000`,
      { artifact },
    )

export interface UsedArtifact {
  readonly artifact_id: string
  readonly source_project: string
  readonly collection: string
}

/** The versions that a run used. */
export const usedBy =
  (reader: Pick<ClickHouseReader, 'query'>) =>
  (project: string, run: string): Promise<readonly UsedArtifact[]> =>
    reader.query(
      `SELECT artifact_id, source_project, collection FROM artifact_uses FINAL
      WHERE project_id = {project:String} AND run_id = {run:String} ORDER BY position`,
      { project, run },
    )
