import type { Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { fieldValue } from '../expression/fields.js'
import { asText } from '../expression/value.js'
import { allOf, raw, select, sql, timeSql, typed } from '../sql.js'
import { ALL_MERGED } from '../unmerged-rows.js'
import { columnsIn, statementFields } from './fields.js'
import { SETTINGS, VISIBLE } from './select.js'

interface RequestFigures {
  readonly requests: number
  readonly errors: number
  /** Of ended requests. */
  readonly p50_ms: number | null
}

/** Requests for a model in all projects of a team. */
export interface ModelRequests extends RequestFigures {
  readonly model: string
  /** Those with the most requests. */
  readonly projects: readonly (RequestFigures & { readonly project: string })[]
}

interface Selection {
  readonly team: string
  readonly models: readonly string[]
  readonly position: Position
  /** Only calls that started at `from` or later, and before `to`. */
  readonly began: { readonly from: Instant; readonly to: Instant }
  readonly maxProjects: number
}

/** Where the gateway notes the model of a request, also of one that fails. */
const MODEL = 'attributes.tallytree.model'

/** The requests of a short range for some models; models without any are left out. */
export const modelRequests = async (
  reader: Pick<ClickHouseReader, 'query'>,
  { team, models, position, began, maxProjects }: Selection,
): Promise<readonly ModelRequests[]> => {
  const model = asText(fieldValue(statementFields().fields, MODEL))
  const columns = sql`${model} AS model, CAST(call_project_id, 'String') AS project, call_status, call_latency_ms`
  const calls = ALL_MERGED(
    columnsIn(columns),
    'calls',
    allOf([
      sql`startsWith(project_id, ${`${team}/`})`,
      sql`started_at >= ${timeSql(began.from)} AND started_at < ${timeSql(began.to)}`,
      raw(`position(attributes, '"tallytree"') > 0`, { position }),
      ...VISIBLE,
    ]),
  )
  const rows = await select<RequestFigures & { model: string; project: string }>(
    reader,
    sql`SELECT assumeNotNull(model) AS model, project, toFloat64(count()) AS requests,
      toFloat64(countIf(call_status = 'error')) AS errors, quantileExactInclusiveOrNull(0.5)(call_latency_ms) AS p50_ms
    FROM (SELECT ${columns} FROM (${calls}) AS selected WHERE model IN ${models})
    GROUP BY GROUPING SETS ((model), (model, project))
    ORDER BY model, project != '', requests DESC, project LIMIT ${typed('UInt64', maxProjects + 1)} BY model ${SETTINGS}`,
  )
  return rows
    .filter(({ project }) => project === '')
    .map(({ model, requests, errors, p50_ms }) => ({
      ...{ model, requests, errors, p50_ms },
      projects: rows
        .filter((row) => row.model === model && row.project !== '')
        .map(({ project, requests, errors, p50_ms }) => ({
          ...{ project: project.slice(team.length + 1), requests, errors, p50_ms },
        })),
    }))
}
