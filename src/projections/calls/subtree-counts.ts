import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { select, sql, type Sql } from '../sql.js'
import { cyclesOf, topologyOf } from './topology.js'
import type { ListRow } from './list-rows.js'

/** A call and its descendants. */
export interface SubtreeCount {
  readonly calls: number
  /** Calls that failed themselves. */
  readonly errors: number
}

type Reader = Pick<ClickHouseReader, 'query'>
type SubtreeRow = Pick<ListRow, 'id' | 'trace_id' | 'parent_id'>

interface Selection {
  readonly project: string
  readonly position: Position
  /** The traces to read. */
  readonly traces: readonly string[]
}

/** Reading more calls one by one takes too long for a page. */
const MAX_WALKED = 100_000

/**
 * The counts of some calls, by id. The calls of a trace with one root are counted without loading them. Omits calls whose
 * traces are too large to walk.
 */
export const subtreeCounts = async (
  reader: Reader,
  project: string,
  rows: readonly SubtreeRow[],
  position: Position,
): Promise<ReadonlyMap<string, SubtreeCount>> => {
  const counts = new Map<string, SubtreeCount>()
  if (rows.length === 0) return counts
  const traces = [...new Set(rows.map(({ trace_id }) => trace_id))]
  const totals = await traceTotals(reader, { project, traces, position })
  const walked = new Set<string>()
  for (const { id, trace_id, parent_id } of rows) {
    const total = totals.get(trace_id)
    if (total?.roots === 1 && parent_id === null) counts.set(id, { calls: total.calls, errors: total.errors })
    else walked.add(trace_id)
  }
  const size = [...walked].reduce((sum, trace) => sum + (totals.get(trace)?.calls ?? 0), 0)
  if (walked.size === 0 || size > MAX_WALKED) return counts
  const countOf = await countTrees(reader, { project, traces: [...walked], position })
  for (const { id, trace_id } of rows) {
    const count = walked.has(trace_id) ? countOf(trace_id, id) : undefined
    if (count !== undefined) counts.set(id, count)
  }
  return counts
}

/** Calls as of a position, with the rules of `traceBuilder`. */
const callsOf = ({ project, traces, position }: Selection): Sql =>
  sql`SELECT trace_id AS trace, call_id AS id, argMaxIf(parent_id, at, has_start) AS parent,
    argMaxIf(status, at, ended) = 'error' AS failed
  FROM (SELECT *, usage_facts.position AS at,
      (ended_position > 0 AND ended_position <= ${position}) AS ended,
      ended OR (started_position > 0 AND started_position <= ${position}) AS has_start,
      (deleted_position > 0 AND deleted_position <= ${position}) AS deleted
    FROM usage_facts WHERE project_id = ${project} AND trace_id IN ${traces})
  GROUP BY trace, id HAVING max(has_start) AND NOT max(deleted)`

const traceTotals = async (reader: Reader, selection: Selection) => {
  const rows = await select<{ trace: string; calls: string; errors: string; roots: string }>(
    reader,
    sql`SELECT trace, count() AS calls, countIf(failed) AS errors, countIf(parent = '') AS roots
    FROM (${callsOf(selection)}) GROUP BY trace`,
  )
  return new Map(
    rows.map(({ trace, calls, errors, roots }) => [
      trace,
      { calls: Number(calls), errors: Number(errors), roots: Number(roots) },
    ]),
  )
}

interface CountedCall {
  readonly trace: string
  readonly id: string
  /** '' for none. */
  readonly parent: string
  readonly failed: number
}

const keyOf = (trace: string, id: string): string => `${trace}\n${id}`

/** Counts along the trees, by trace and id. The calls of a cycle are counted as one. */
const countTrees = async (reader: Reader, selection: Selection) => {
  const rows = await select<CountedCall>(reader, callsOf(selection))
  const indexOf = new Map(rows.map(({ trace, id }, index) => [keyOf(trace, id), index]))
  const parent = Int32Array.from(rows, (row) =>
    row.parent === '' ? -1 : (indexOf.get(keyOf(row.trace, row.parent)) ?? -1),
  )
  const calls = new Uint32Array(rows.length).fill(1)
  const errors = Uint32Array.from(rows, ({ failed }) => failed)
  const topology = topologyOf(parent)
  for (const call of topology.order.subarray(0, topology.acyclic)) {
    const above = parent[call]!
    if (above < 0) continue
    calls[above]! += calls[call]!
    errors[above]! += errors[call]!
  }
  for (const cycle of cyclesOf(parent, topology))
    for (const counts of [calls, errors]) {
      const total = cycle.reduce((sum, call) => sum + counts[call]!, 0)
      for (const call of cycle) counts[call] = total
    }
  return (trace: string, id: string): SubtreeCount | undefined => {
    const index = indexOf.get(keyOf(trace, id))
    return index === undefined ? undefined : { calls: calls[index]!, errors: errors[index]! }
  }
}
