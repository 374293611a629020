import { callRef } from '../../domain/refs/ref.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { select, sql, typed } from '../sql.js'

/** The position of the last change of the calls of each trace, and of the scores in feedback on them, in digits. */
export const traceChanges = async (
  reader: Pick<ClickHouseReader, 'query'>,
  projectId: string,
  traceIds: readonly string[],
  position: Position,
): Promise<ReadonlyMap<string, string>> => {
  const facts = sql`FROM usage_facts WHERE project_id = ${projectId} AND trace_id IN ${traceIds}
    AND usage_facts.position <= ${position}`
  const given = sql`
    SELECT substring(assumeNotNull(weave_ref), ${typed('UInt64', callRef(projectId, '').length + 1)}) AS call,
      greatest(ifNull(given_position, 0), if(ifNull(purged_position, 0) <= ${position}, ifNull(purged_position, 0), 0)) AS at
    FROM feedback FINAL WHERE project_id = ${projectId} AND startsWith(ifNull(feedback_type, ''), 'wandb.runnable.')
      AND given_position <= ${position}`
  const [calls, scores] = await Promise.all([
    select<{ trace: string; last: string }>(
      reader,
      sql`SELECT trace_id AS trace, toString(max(usage_facts.position)) AS last ${facts} GROUP BY trace`,
    ),
    select<{ trace: string; last: string }>(
      reader,
      sql`SELECT trace, toString(max(at)) AS last FROM (SELECT DISTINCT trace_id AS trace, call_id AS call ${facts}
          AND call_id IN (SELECT call FROM (${given}))) AS known
        INNER JOIN (${given}) AS given ON given.call = known.call
      GROUP BY trace`,
    ),
  ])
  const ofScores = new Map(scores.map(({ trace, last }) => [trace, last]))
  return new Map(calls.map(({ trace, last }) => [trace, `${last} ${ofScores.get(trace) ?? ''}`]))
}
