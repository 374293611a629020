import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { CallsFilter } from '../calls/filter.js'
import { booksFrom, type Books } from '../prices/queries-of-books.js'
import { loadTraces, traceSizes, traceVersion, usageReportingAt } from './load.js'
import { matchingCalls, type MatchingCall } from './matching.js'
import { rollUp, type RolledUp } from './roll-up.js'
import { traceCache, type TraceCache } from './trace-cache.js'
import { unfinishedBelow } from './unfinished.js'
import { answeredCalls, firstStarted, type Answered } from './answered.js'

export type { Answered } from './answered.js'
export type { Billed } from './billing.js'
export { AnswerTooLarge } from './inclusive.js'
export { TraceTooLarge } from './load.js'

export interface UsageQuestion {
  readonly projectId: string
  readonly filter: CallsFilter | null
  readonly limit: number
  readonly position: Position
  /** The largest trace that one answer may work on, in calls. */
  readonly maxTraceCalls: number
  /** What the calls cost too: by this list alone or, where it is null, by the project's prices and the default list's. */
  readonly costs?: { readonly list: string | null } | null
}

export interface UsageAnswer {
  readonly answered: readonly Answered[]
  /** Matching calls beyond the limit. */
  readonly more: number
  readonly unfinishedDescendants: number
}

/** Facts worked on at once; a larger trace is worked on alone. */
const ROWS_AT_ONCE = 250_000

/**
 * Own usage and that of all descendants, for the calls that a filter selects. What was made from other tables than those
 * that `generation` names now is not used again.
 */
export const usageFrom = (reader: ClickHouseReader, generation: () => string = () => '') => {
  const sources: Sources = {
    reader,
    generation,
    cache: traceCache(),
    books: booksFrom(reader, generation),
  }
  return async (question: UsageQuestion): Promise<UsageAnswer> => {
    const { projectId, filter, limit, position } = question
    const wholeTraces = onlyTraces(filter)
    if (wholeTraces !== undefined) {
      const answer = await ofWholeTraces(sources, question, wholeTraces)
      if (answer !== undefined) return answer
    }
    const { calls, more } = await matchingCalls(reader, projectId, filter, position, limit)
    return { ...(await ofSelected(sources, question, byTrace(calls))), more }
  }
}

interface Sources {
  readonly reader: ClickHouseReader
  readonly generation: () => string
  readonly cache: TraceCache
  readonly books: Books
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

/** All calls of one trace, or of some that fit into one piece of work: the facts alone say which calls match. */
const ofWholeTraces = async (
  sources: Sources,
  question: UsageQuestion,
  traceIds: readonly string[],
): Promise<UsageAnswer | undefined> => {
  if (traceIds.length > 1) {
    const sizes = await traceSizes(sources.reader, question.projectId, traceIds)
    if (sizes.reduce((sum, { rows }) => sum + rows, 0) > ROWS_AT_ONCE) return undefined
  }
  const rolledUp = await rolledUpTraces(sources, question, traceIds)
  const { calls, more } = firstStarted(rolledUp, question.limit)
  return {
    answered: [answeredCalls(rolledUp, calls)],
    more,
    unfinishedDescendants: belowAnswered(rolledUp, calls),
  }
}

const ofSelected = async (
  sources: Sources,
  question: UsageQuestion,
  wanted: ReadonlyMap<string, readonly MatchingCall[]>,
): Promise<Omit<UsageAnswer, 'more'>> => {
  const answered: Answered[] = []
  let unfinishedDescendants = 0
  for (const traceIds of await batches(sources.reader, question.projectId, [...wanted.keys()])) {
    const rolledUp = await rolledUpTraces(sources, question, traceIds)
    const selected = traceIds.flatMap((traceId) => wanted.get(traceId) ?? [])
    const calls = indexesOf(rolledUp, selected)
    answered.push(answeredCalls(rolledUp, calls))
    unfinishedDescendants += belowAnswered(rolledUp, calls)
  }
  return { answered, unfinishedDescendants }
}

const rolledUpTraces = async (
  { reader, generation, cache, books }: Sources,
  { projectId, position, maxTraceCalls, costs = null }: UsageQuestion,
  traceIds: readonly string[],
): Promise<RolledUp> => {
  const [traceId, ...others] = traceIds
  const book = () => (costs === null ? null : books({ projectId, list: costs.list, position }))
  if (traceId === undefined || others.length > 0) {
    const [columns, reporting, prices] = await Promise.all([
      loadTraces(reader, projectId, traceIds, position),
      usageReportingAt(reader, projectId, position),
      book(),
    ])
    return rollUp(columns, reporting, prices)
  }
  const tables = generation()
  const [{ rows, version }, reporting, prices] = await Promise.all([
    traceVersion(reader, projectId, traceId, position),
    usageReportingAt(reader, projectId, position),
    book(),
  ])
  const name = `${projectId}/${traceId}${costs === null ? '' : `\0${costs.list ?? ''}`}`
  const priced = prices === null ? '' : prices.version
  const kept =
    version === undefined || priced === undefined ? undefined : `${tables} ${version} ${reporting} ${priced}`
  const known = kept === undefined ? undefined : cache.get(name, kept)
  if (known !== undefined) return known
  const columns = await loadTraces(reader, projectId, traceIds, position, {
    maxTraceCalls,
    expectedRows: rows,
  })
  const rolledUp = rollUp(columns, reporting, prices)
  if (kept !== undefined) cache.put(name, kept, rolledUp)
  return rolledUp
}

const indexesOf = ({ find, deleted }: RolledUp, calls: readonly MatchingCall[]): Int32Array =>
  Int32Array.from(
    calls
      .map(({ id, hash }) => {
        const bytes = Buffer.from(id)
        return find(bytes, 0, bytes.length, hash)
      })
      .filter((call) => call >= 0 && deleted[call] === 0),
  ).sort()

const belowAnswered = (rolledUp: RolledUp, calls: Int32Array): number => {
  const isAnswered = new Uint8Array(rolledUp.size)
  for (const call of calls) isAnswered[call] = 1
  return unfinishedBelow(rolledUp, (call) => isAnswered[call] === 1)
}

const TRACES_A_QUERY = 5000

/** Traces together until they are enough work; each trace whole. */
const batches = async (
  reader: ClickHouseReader,
  projectId: string,
  traceIds: readonly string[],
): Promise<readonly (readonly string[])[]> => {
  if (traceIds.length <= 1) return traceIds.length === 0 ? [] : [traceIds]
  const all: string[][] = []
  let rows = Infinity
  for (let from = 0; from < traceIds.length; from += TRACES_A_QUERY) {
    for (const size of await traceSizes(reader, projectId, traceIds.slice(from, from + TRACES_A_QUERY))) {
      if (rows + size.rows > ROWS_AT_ONCE || all.at(-1)!.length >= TRACES_A_QUERY) {
        all.push([])
        rows = 0
      }
      all.at(-1)!.push(size.trace_id)
      rows += size.rows
    }
  }
  return all
}
