import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { SQL_TIME } from '../clickhouse-values.js'
import { select, sql, typed, type Sql } from '../sql.js'
import { batchesOfTraces, loadTraces, usageReportingAt } from './facts.js'
import { AnswerTooLarge } from './inclusive-usage.js'
import { COVERAGE_TIME, coverageRow, totalsOf, type TotalsRow } from './totals.js'
import { TraceTooLarge } from './trace.js'

type Querying = Pick<ClickHouseReader, 'query'>
type Reading = Pick<ClickHouseReader, 'query' | 'stream'>

/** The checkpoints of the totals pass. */
export const TOTALS = { complete: 'usage_totals', target: 'usage_totals_target' } as const

export interface TotalsState {
  /** The rows of `usage_totals` are those as of this position … */
  readonly complete: Position
  /** … except for traces that changed up to this one, while a pass is running. */
  readonly target: Position
  /** The identity of the tables, which a rebuild exchanges. */
  readonly tables: string
}

export const readTotalsState = async (reader: Querying): Promise<TotalsState> => {
  const [row] = await select<{ complete: string; target: string; tables: string }>(
    reader,
    sql`SELECT toString(maxIf(position, projector = ${TOTALS.complete})) AS complete,
      toString(maxIf(position, projector = ${TOTALS.target})) AS target,
      (SELECT toString(groupArray(uuid)) FROM (SELECT uuid FROM system.tables
        WHERE database = currentDatabase() AND name IN ('checkpoints', 'usage_facts', 'usage_totals')
        ORDER BY name)) AS tables
    FROM checkpoints`,
  )
  const { complete, target, tables } = row!
  return { complete: BigInt(complete), target: BigInt(target), tables }
}

/**
 * Reads rows of `usage_totals` as of a position. Traces that changed after it, or after the last pass, are open: their rows
 * are not valid. Undefined if a later pass replaced rows meanwhile, or a rebuild exchanged tables.
 */
export const readAtState = async <A>(
  reader: Querying,
  position: Position,
  read: (changed: Changed, state: TotalsState) => Promise<A>,
): Promise<{ readonly answer: A } | undefined> => {
  const before = await readTotalsState(reader)
  const { complete, target } = before
  const changed = {
    after: position < complete ? position : complete,
    upTo: position > target ? position : target,
  }
  const answer = await read(changed, before)
  const after = await readTotalsState(reader)
  return after.tables === before.tables && after.target <= changed.upTo ? { answer } : undefined
}

/** More traces are refused anyway, because each has a fact. */
const MAX_CHANGED = 1_000_000

/** The positions of changes: above `after`, and at most `upTo`. */
export interface Changed {
  readonly after: Position
  readonly upTo: Position
}

/**
 * The traces that changed, of those with facts that meet a condition. They may include traces that only changed later.
 * Null for all: the `usage_reporting` of the project changed.
 */
export const changedTraces = async (
  reader: Querying,
  projectId: string,
  { after, upTo }: Changed,
  candidates: Sql,
): Promise<readonly string[] | null> => {
  const [reportingChanges, traces] = await Promise.all([
    select(
      reader,
      sql`SELECT 1 AS one FROM usage_reporting
      WHERE project_id = ${projectId} AND position > ${after} AND position <= ${upTo} LIMIT 1`,
    ),
    select<{ trace_id: string }>(
      reader,
      sql`SELECT DISTINCT trace_id FROM usage_facts WHERE ${candidates} AND trace_id IN (
        SELECT trace_id FROM usage_facts WHERE project_id = ${projectId} AND position > ${after})
      LIMIT ${typed('UInt64', MAX_CHANGED)}`,
    ),
  ])
  return reportingChanges.length > 0 ? null : traces.map(({ trace_id }) => trace_id)
}

/** The traces of a project whose rows lack usage: the inclusive usage of calls below roots, or any. */
export const partialTraces = async (
  reader: Querying,
  projectId: string,
  lacks: 'inclusive' | 'any',
): Promise<readonly string[]> => {
  const rows = await select<{ trace_id: string }>(
    reader,
    sql`SELECT trace_id FROM usage_totals FINAL WHERE project_id = ${projectId}
    AND started_at = ${typed(SQL_TIME, COVERAGE_TIME)} AND call_id = ''
    AND coverage IN ${lacks === 'inclusive' ? ['own', 'none'] : ['none']}`,
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
      // Several traces have few facts, a single one may have any number.
      const options = { maxTraceCalls: MAX_CALLS, withLabels: true, isSmall: traces.length > 1 }
      const calls = await loadTraces(reader, projectId, traces, position, options)
      yield* totalsOf(calls, projectId, reporting)
    } catch (error) {
      if (!isTooLarge(error)) throw error
      const half = Math.ceil(traces.length / 2)
      if (traces.length > 1) {
        yield* rowsOf(traces.slice(0, half))
        yield* rowsOf(traces.slice(half))
      } else {
        const [trace] = traces as [string]
        yield [coverageRow(projectId, trace, 'none')]
      }
    }
  }
  for await (const batch of batchesOfTraces(reader, projectId, traceIds, FACTS_AT_ONCE)) yield* rowsOf(batch)
}

/** Thrown before the first rows. */
const isTooLarge = (error: unknown) => error instanceof AnswerTooLarge || error instanceof TraceTooLarge
