import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { select, sql } from '../sql.js'
import { NO_FILTER } from './filter.js'
import { selection, SETTINGS } from './select.js'

/** The number of rows of each evaluation run that has any, by the rules of `roleOf` in the domain. */
export const evaluationRowCounts = async (
  reader: ClickHouseReader,
  projectId: string,
  runIds: readonly string[],
  position: Position,
): Promise<ReadonlyMap<string, number>> => {
  if (runIds.length === 0) return new Map()
  const children = { projectId, filter: { ...NO_FILTER, parent_ids: runIds }, operation: null, position }
  const found = await select<{ run: string; total: string }>(
    reader,
    sql`SELECT run, count() AS total FROM (${selection(
      sql`call_parent_id AS run, call_op_name AS name, call_attributes AS attributes`,
      children,
    )}) WHERE match(assumeNotNull(name), '(^|/op/)Evaluation\\\\.predict(_and_score|AndScore)(:|$)')
      OR JSONExtractRaw(ifNull(attributes, ''), 'weave', 'prediction') IN ('"true"', 'true')
    GROUP BY run ${SETTINGS}`,
  )
  return new Map(found.map(({ run, total }) => [run, Number(total)]))
}
