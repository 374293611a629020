import type { ScoredRow } from '../../domain/evaluations/row.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonText } from '../../kernel/json/text.js'
import type { ClickHouseReader, Rows } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import { select, sql, statementOf, type Sql } from '../sql.js'
import { nativeBlocks, textAt, type Numbers, type Strings } from '../usage/native.js'
import { EVALUATION_ROWS } from './tables.js'

/** The rows of a run at a version, to be inserted at once. */
export const storedRows = (
  {
    projectId,
    runId,
    version,
  }: { readonly projectId: string; readonly runId: string; readonly version: string },
  rows: readonly ScoredRow[],
  position: Position,
): Rows =>
  EVALUATION_ROWS.rows(
    rows.map(({ id, exampleDigest, scores, modelLatency, cost }, place) => ({
      project_id: projectId,
      run_id: runId,
      place,
      version,
      row_count: rows.length,
      row_id: id,
      example_digest: exampleDigest,
      scores: jsonText(scores),
      latency: modelLatency === null ? '' : String(modelLatency),
      cost: cost === null ? '' : String(cost),
      position,
    })),
  )

const ofVersion = (projectId: string, runId: string, version: string): Sql =>
  sql`FROM evaluation_rows FINAL WHERE project_id = ${projectId} AND run_id = ${runId} AND version = ${version}`

/** The rows of a run at a version; undefined where they are not stored. */
export const readStoredRows = async (
  reader: Pick<ClickHouseReader, 'stream'>,
  projectId: string,
  runId: string,
  version: string,
): Promise<readonly ScoredRow[] | undefined> => {
  const found: ScoredRow[] = []
  const { text, parameters } =
    statementOf(sql`SELECT toFloat64(row_count), row_id, example_digest, scores, latency, cost
    ${ofVersion(projectId, runId, version)} ORDER BY project_id, run_id, place`)
  const pause = yielding()
  let size = 0
  // The engine starts other streams in the main thread, and sorts there.
  for await (const { rows, columns } of nativeBlocks(reader.stream(text, parameters, { isSmall: true }))) {
    const [counts, ids, digests, scores, latencies, costs] = columns as [Numbers, ...Five<Strings>]
    size = counts.values[0]!
    for (let row = 0; row < rows; row += 1) {
      if (row % 64 === 0) await pause()
      found.push({
        id: textAt(ids, row),
        exampleDigest: textAt(digests, row),
        scores: parseJson(textAt(scores, row)) as ScoredRow['scores'],
        modelLatency: numberAt(latencies, row),
        cost: numberAt(costs, row),
      })
    }
  }
  return size > 0 && found.length === size ? found : undefined
}

type Five<Column> = [Column, Column, Column, Column, Column]

const numberAt = (texts: Strings, row: number): number | null => {
  const text = textAt(texts, row)
  return text === '' ? null : Number(text)
}

/** Whether the rows of a run are stored at a version. */
export const areStored = async (
  reader: Pick<ClickHouseReader, 'query'>,
  projectId: string,
  runId: string,
  version: string,
): Promise<boolean> => {
  const [row] = await select<{ isWhole: number }>(
    reader,
    sql`SELECT count() > 0 AND count() = any(row_count) AS isWhole ${ofVersion(projectId, runId, version)}`,
  )
  return row?.isWhole === 1
}

export interface EndedRun {
  readonly projectId: string
  readonly runId: string
  readonly traceId: string
}

/**
 * The evaluation runs that have ended, of traces whose calls or scores changed after a position, and all of them where a price
 * did. Their rows may be stored already.
 */
export const runsChangedAfter = (
  reader: Pick<ClickHouseReader, 'query'>,
  after: Position,
): Promise<readonly EndedRun[]> =>
  select<EndedRun>(
    reader,
    sql`SELECT project_id AS projectId, call_id AS runId, any(trace_id) AS traceId FROM usage_facts
    WHERE (project_id, trace_id) IN (
        SELECT project_id, trace_id FROM usage_facts WHERE op = 'Evaluation.evaluate')
      AND ((SELECT max(greatest(ifNull(published_position, 0), ifNull(withdrawn_position, 0))) FROM prices) > ${after}
        OR (project_id, trace_id) IN (SELECT project_id, trace_id FROM usage_facts WHERE position > ${after}
          UNION ALL SELECT project_id, trace_id FROM call_index WHERE (project_id, id) IN (
            SELECT project_id, splitByChar('/', assumeNotNull(weave_ref))[-1] FROM feedback FINAL
            WHERE greatest(ifNull(given_position, 0), ifNull(purged_position, 0)) > ${after}
              AND startsWith(ifNull(feedback_type, ''), 'wandb.runnable.'))))
    GROUP BY project_id, call_id
    HAVING max(usage_facts.op) = 'Evaluation.evaluate' AND max(ended_position) > 0 AND max(deleted_position) = 0
    ORDER BY projectId, runId`,
  )
