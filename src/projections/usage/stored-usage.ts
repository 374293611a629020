import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { SQL_TIME } from '../clickhouse-values.js'
import { listed, raw, select, sql, statementOf, typed } from '../sql.js'
import type { EntryBudget } from './inclusive-usage.js'
import { nativeBlocks, textAt, type Numbers, type Strings } from './native.js'
import { COUNTERS } from './columns.js'
import { changedTraces, readAtState } from './totals-state.js'
import type { TraceSize } from './facts.js'
import { sinceYear2100 } from './trace.js'
import type { CallSelection } from '../calls/select.js'

/** A selected call. */
export interface MatchingCall {
  readonly id: string
  readonly trace_id: string
  /** As ClickHouse prints it. */
  readonly started_at: string
}

/** The inclusive usage of a model by a call. */
export interface StoredUsage {
  readonly id: string
  readonly model: string
  /** The span of the starts of the calls that it sums up, like `TraceCalls.started`. */
  readonly first: number
  readonly last: number
  /** `COUNTERS`. */
  readonly counters: readonly number[]
}

export interface StoredAnswer {
  readonly calls: readonly MatchingCall[]
  readonly usage: readonly StoredUsage[]
}

interface LocatedCall extends MatchingCall {
  /** Of its trace. */
  readonly facts: number
  /** Of calls of the trace, perhaps with the given one. */
  readonly deletions: number
}

/** Finds a call as of a position, and the size of its trace, in one statement; undefined before its start. */
export const locateCall = async (
  reader: Pick<ClickHouseReader, 'query'>,
  projectId: string,
  id: string,
  position: Position,
): Promise<LocatedCall | undefined> => {
  const [found] = await select<LocatedCall>(
    reader,
    sql`WITH (SELECT any((trace_id, toString(started_at))) FROM call_index
      WHERE project_id = ${projectId} AND id = ${id} AND call_index.position <= ${position}) AS indexed
    SELECT ${id} AS id, indexed.1 AS trace_id, indexed.2 AS started_at, count() AS facts,
      countIf(deleted_position > 0) AS deletions
    FROM usage_facts WHERE project_id = ${projectId} AND trace_id = indexed.1`,
  )
  return found?.trace_id === '' ? undefined : found
}

interface Request extends Pick<CallSelection, 'projectId' | 'position'> {
  /** In the order of their starts. */
  readonly calls: readonly MatchingCall[]
  readonly sizes: readonly TraceSize[]
  /** Traces with more facts than this are left out. */
  readonly maxFacts: number
  readonly budget: EntryBudget
}

/**
 * The calls whose usage can be read from `usage_totals` as of a position: those of traces that did not change since, with
 * no running call, whose inclusive usage is stored. Undefined for none.
 *
 * @throws AnswerTooLarge
 */
export const storedUsage = async (
  reader: Pick<ClickHouseReader, 'query' | 'stream'>,
  { projectId, position, calls, sizes, maxFacts, budget }: Request,
): Promise<StoredAnswer | undefined> => {
  const traceIds = sizes.flatMap(({ traceId, facts }) => (facts > maxFacts ? [] : [traceId]))
  const within = new Set(traceIds)
  const readable = calls.filter(({ trace_id }) => within.has(trace_id))
  const candidates = sql`project_id = ${projectId} AND trace_id IN ${listed(traceIds)}`
  const result = await readAtState(reader, position, async (changed) => {
    const [rows, open, incomplete] = await Promise.all([
      rowsOf(reader, projectId, readable, budget),
      changedTraces(reader, projectId, changed, candidates),
      incompleteTraces(reader, projectId, traceIds),
    ])
    if (open === null) return undefined
    const computed = new Set([...open, ...incomplete])
    const stored = readable.filter(({ trace_id }) => !computed.has(trace_id))
    const ids = new Set(stored.map(({ id }) => id))
    return { calls: stored, usage: rows.filter(({ id }) => ids.has(id)) }
  })
  return result?.answer
}

/**
 * The traces whose rows lack the inclusive usage of some calls, or had running calls. Rows are merged only at the times of such
 * rows: those of calls that have ended since may still be there.
 */
const incompleteTraces = async (
  reader: Pick<ClickHouseReader, 'query'>,
  projectId: string,
  traceIds: readonly string[],
): Promise<readonly string[]> => {
  const incomplete = sql`project_id = ${projectId} AND (status = 'running' OR coverage IN ('own', 'none'))
    AND trace_id IN ${listed(traceIds)}`
  const rows = await select<{ trace_id: string }>(
    reader,
    sql`SELECT DISTINCT trace_id FROM usage_totals FINAL
    WHERE started_at IN (SELECT started_at FROM usage_totals WHERE ${incomplete}) AND ${incomplete}`,
  )
  return rows.map(({ trace_id }) => trace_id)
}

const CALLS_AT_ONCE = 20_000

const rowsOf = async (
  reader: Pick<ClickHouseReader, 'stream'>,
  projectId: string,
  calls: readonly MatchingCall[],
  budget: EntryBudget,
): Promise<readonly StoredUsage[]> => {
  const usage: StoredUsage[] = []
  for (let from = 0; from < calls.length; from += CALLS_AT_ONCE) {
    const some = calls.slice(from, from + CALLS_AT_ONCE)
    const columns = [...SPAN, ...COUNTERS.map((counter) => `toFloat64(${counter})`)].join(', ')
    const { text, parameters } = statementOf(
      sql`SELECT call_id, CAST(model, 'String'), ${raw(columns)}
    FROM usage_totals FINAL WHERE project_id = ${projectId} AND call_id IN ${listed(some.map(({ id }) => id))}
    AND started_at BETWEEN ${typed(SQL_TIME, some[0]!.started_at)} AND ${typed(SQL_TIME, some.at(-1)!.started_at)}
    SETTINGS optimize_move_to_prewhere_if_final = 1`,
    )
    const chunks = reader.stream(text, parameters)
    for await (const { rows, columns } of nativeBlocks(chunks)) {
      const [ids, models, first, last, ...counters] = columns as StoredColumns
      budget.take(rows)
      for (let row = 0; row < rows; row += 1)
        usage.push({
          id: textAt(ids, row),
          model: textAt(models, row),
          first: first.values[row]!,
          last: last.values[row]!,
          counters: counters.map(({ values }) => values[row]!),
        })
    }
  }
  return usage
}

const SPAN = ['first_started_at', 'last_started_at'].map(sinceYear2100)

type StoredColumns = readonly [ids: Strings, models: Strings, first: Numbers, last: Numbers, ...Numbers[]]
