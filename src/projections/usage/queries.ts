import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { CallsFilter } from '../calls/filter.js'
import { loadTraces, traceSizes, usageReportingAt, type TraceSize } from './load.js'
import { matchingCalls, type MatchingCall } from './matching.js'
import { rollUp, unfinishedBelow, type RolledUp } from './roll-up.js'
import type { TraceColumns } from './trace-columns.js'
import { answeredCalls, firstStarted, type Answered } from './answered.js'

export type { Answered } from './answered.js'
export { AnswerTooLarge } from './inclusive.js'

export interface UsageQuestion {
  readonly projectId: string
  readonly filter: CallsFilter | null
  readonly limit: number
  readonly position: Position
  /** The largest trace that one answer may work on, in calls. */
  readonly maxTraceCalls: number
}

export interface UsageAnswer {
  readonly answered: readonly Answered[]
  /** Matching calls beyond the limit. */
  readonly more: number
  readonly unfinishedDescendants: number
}

export class TraceTooLarge extends Error {
  override readonly name = 'TraceTooLarge'
  constructor(readonly limit: number) {
    super(`a trace has more than ${limit} calls`)
  }
}

/** Facts worked on at once; a larger trace is worked on alone. */
const ROWS_AT_ONCE = 250_000

/** Own usage and that of all descendants, for the calls that a filter selects. */
export const usage =
  (reader: ClickHouseReader) =>
  async (question: UsageQuestion): Promise<UsageAnswer> => {
    const { projectId, filter, limit, position } = question
    const wholeTraces = onlyTraces(filter)
    if (wholeTraces !== undefined) {
      const answer = await ofWholeTraces(reader, question, wholeTraces)
      if (answer !== undefined) return answer
    }
    const { calls, more } = await matchingCalls(reader, projectId, filter, position, limit)
    return { ...(await ofSelected(reader, question, byTrace(calls))), more }
  }

const byTrace = (calls: readonly MatchingCall[]): ReadonlyMap<string, readonly MatchingCall[]> => {
  const traces = new Map<string, MatchingCall[]>()
  for (const call of calls) {
    const trace = traces.get(call.trace_id)
    if (trace === undefined) traces.set(call.trace_id, [call])
    else trace.push(call)
  }
  return traces
}

const onlyTraces = (filter: CallsFilter | null): readonly string[] | undefined => {
  const { trace_ids, ...others } = filter ?? {}
  const isAlone = Object.values(others).every(
    (value) => value === null || value === false || (Array.isArray(value) && value.length === 0),
  )
  return trace_ids != null && trace_ids.length > 0 && isAlone ? [...new Set(trace_ids)] : undefined
}

/** All calls of traces that fit into one piece of work: the facts alone say which calls match. */
const ofWholeTraces = async (
  reader: ClickHouseReader,
  question: UsageQuestion,
  traceIds: readonly string[],
): Promise<UsageAnswer | undefined> => {
  const { projectId, position, limit } = question
  const [sizes, reporting] = await Promise.all([
    traceSizes(reader, projectId, traceIds),
    usageReportingAt(reader, projectId, position),
  ])
  const [batch, ...others] = batches(sizes, question.maxTraceCalls)
  if (batch === undefined) return { answered: [], more: 0, unfinishedDescendants: 0 }
  if (others.length > 0) return undefined
  const rolledUp = rollUp(await load(reader, question, batch), reporting)
  const { calls, more } = firstStarted(rolledUp.columns, limit)
  return {
    answered: [answeredCalls(rolledUp, calls)],
    more,
    unfinishedDescendants: belowAnswered(rolledUp, calls),
  }
}

const ofSelected = async (
  reader: ClickHouseReader,
  question: UsageQuestion,
  wanted: ReadonlyMap<string, readonly MatchingCall[]>,
): Promise<Omit<UsageAnswer, 'more'>> => {
  const { projectId, position } = question
  const [sizes, reporting] = await Promise.all([
    traceSizesOfMany(reader, projectId, [...wanted.keys()]),
    usageReportingAt(reader, projectId, position),
  ])
  const answered: Answered[] = []
  let unfinishedDescendants = 0
  for (const batch of batches(sizes, question.maxTraceCalls)) {
    const rolledUp = rollUp(await load(reader, question, batch), reporting)
    const selected = batch.flatMap(({ trace_id }) => wanted.get(trace_id) ?? [])
    const calls = indexesOf(rolledUp.columns, selected)
    answered.push(answeredCalls(rolledUp, calls))
    unfinishedDescendants += belowAnswered(rolledUp, calls)
  }
  return { answered, unfinishedDescendants }
}

const load = async (
  reader: ClickHouseReader,
  { projectId, position, maxTraceCalls }: UsageQuestion,
  batch: readonly TraceSize[],
): Promise<TraceColumns> => {
  const columns = await loadTraces(reader, projectId, batch, position)
  if (batch.length === 1 && columns.size > maxTraceCalls) throw new TraceTooLarge(maxTraceCalls)
  return columns
}

const indexesOf = ({ find, deleted }: TraceColumns, calls: readonly MatchingCall[]): Int32Array =>
  Int32Array.from(
    calls
      .map(({ id, hash }) => {
        const bytes = Buffer.from(id)
        return find(bytes, 0, bytes.length, hash)
      })
      .filter((call) => call >= 0 && deleted[call] === 0),
  ).sort()

const belowAnswered = (rolledUp: RolledUp, calls: Int32Array): number => {
  const isAnswered = new Uint8Array(rolledUp.columns.size)
  for (const call of calls) isAnswered[call] = 1
  return unfinishedBelow(rolledUp, (call) => isAnswered[call] === 1)
}

const TRACES_A_QUERY = 5000

const traceSizesOfMany = async (reader: ClickHouseReader, projectId: string, traceIds: readonly string[]) => {
  const sizes: TraceSize[] = []
  for (let from = 0; from < traceIds.length; from += TRACES_A_QUERY)
    sizes.push(...(await traceSizes(reader, projectId, traceIds.slice(from, from + TRACES_A_QUERY))))
  return sizes
}

/** Traces together until they are enough work; each trace whole. */
const batches = (sizes: readonly TraceSize[], maxTraceCalls: number): readonly (readonly TraceSize[])[] => {
  const all: TraceSize[][] = []
  let rows = Infinity
  for (const size of sizes) {
    if (size.rows > 2 * maxTraceCalls) throw new TraceTooLarge(maxTraceCalls)
    if (rows + size.rows > ROWS_AT_ONCE || all.at(-1)!.length >= TRACES_A_QUERY) {
      all.push([])
      rows = 0
    }
    all.at(-1)!.push(size)
    rows += size.rows
  }
  return all
}
