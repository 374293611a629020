import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { batchesOfTraces, loadTraces, usageReportingAt } from './facts.js'
import { AnswerTooLarge } from './inclusive-usage.js'
import { totalsOf, uncoveredTrace, type TotalsRow } from './totals.js'
import { TraceTooLarge } from './trace.js'

export type { TotalsRow } from './totals.js'

type Querying = Pick<ClickHouseReader, 'query'>
type Reading = Pick<ClickHouseReader, 'query' | 'stream'>

/** The checkpoints of the totals pass. */
export const TOTALS = { complete: 'usage_totals', target: 'usage_totals_target' } as const

export interface TotalsState {
  /** The rows of `usage_totals` are those as of this position … */
  readonly complete: Position
  /** … except for traces that changed up to this one, while a pass is running. */
  readonly target: Position
}

/**
 * Read it before and after reading rows as of a position. They are valid if neither position was later then, once the open
 * traces are left out.
 */
export const readTotalsState = async (reader: Querying): Promise<TotalsState> => {
  const rows = await reader.query<{ projector: string; reached: string }>(
    `SELECT projector, toString(max(position)) AS reached FROM checkpoints
    WHERE projector IN {projectors:Array(String)} GROUP BY projector`,
    { projectors: Object.values(TOTALS) },
  )
  const reachedBy = (name: string) => BigInt(rows.find(({ projector }) => projector === name)?.reached ?? '0')
  return { complete: reachedBy(TOTALS.complete), target: reachedBy(TOTALS.target) }
}

/**
 * The traces whose rows in `usage_totals` are not those as of a position, because they changed since `complete`. Null for
 * all traces: the position is earlier, or the project's `usage_reporting` changed.
 */
export const openTraces = async (
  reader: Querying,
  projectId: string,
  position: Position,
  complete: Position,
): Promise<readonly string[] | null> => {
  if (position < complete) return null
  const range = { project: projectId, complete, position }
  const changes = await reader.query(
    `SELECT 1 AS one FROM usage_reporting
    WHERE project_id = {project:String} AND position > {complete:UInt64} AND position <= {position:UInt64} LIMIT 1`,
    range,
  )
  if (changes.length > 0) return null
  const rows = await reader.query<{ trace_id: string }>(
    `SELECT DISTINCT trace_id FROM touched_traces WHERE position > {complete:UInt64}
    AND first_position <= {position:UInt64} AND project_id = {project:String} ORDER BY trace_id`,
    range,
  )
  return rows.map(({ trace_id }) => trace_id)
}

const FACTS_AT_ONCE = 50_000
/** A constant, so that a pass after a restart makes the same rows. */
const MAX_CALLS = 1_000_000

/** The rows of traces as of a position, some at a time. */
export async function* totalsOfTraces(
  reader: Reading,
  projectId: string,
  traceIds: readonly string[],
  position: Position,
): AsyncGenerator<readonly TotalsRow[]> {
  const reporting = await usageReportingAt(reader, projectId, position)
  async function* rowsOf(traces: readonly string[]): AsyncGenerator<readonly TotalsRow[]> {
    try {
      const options = { maxTraceCalls: MAX_CALLS, withLabels: true }
      const calls = await loadTraces(reader, projectId, traces, position, options)
      yield* totalsOf(calls, { projectId, traceIds: traces }, reporting)
    } catch (error) {
      if (!isTooLarge(error)) throw error
      const half = Math.ceil(traces.length / 2)
      if (traces.length > 1) {
        yield* rowsOf(traces.slice(0, half))
        yield* rowsOf(traces.slice(half))
      } else {
        const [trace] = traces as [string]
        yield [uncoveredTrace(projectId, trace, await firstStart(reader, projectId, trace, position))]
      }
    }
  }
  for await (const batch of batchesOfTraces(reader, projectId, traceIds, FACTS_AT_ONCE)) yield* rowsOf(batch)
}

/** Thrown before the first rows. */
const isTooLarge = (error: unknown) => error instanceof AnswerTooLarge || error instanceof TraceTooLarge

const firstStart = async (reader: Querying, project: string, trace: string, position: Position) => {
  const [row] = await reader.query<{ first: string }>(
    `SELECT toString(min(started_at)) AS first FROM usage_facts WHERE project_id = {project:String}
    AND trace_id = {trace:String}
    AND (started_position BETWEEN 1 AND {position:UInt64} OR ended_position BETWEEN 1 AND {position:UInt64})`,
    { project, trace, position },
  )
  return row?.first ?? ''
}
