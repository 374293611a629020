import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import { yielding } from '../../yield-to-event-loop.js'
import type { CallSelection } from '../calls/select.js'
import { booksFrom, type Books } from '../prices/queries-of-books.js'
import { loadTraces, traceSizes, traceVersion, usageReportingAt } from './load.js'
import { matchingCalls, type Matching, type MatchingCall } from './matching.js'
import { only, remembered, type Remembered } from './remembered.js'
import { rollUp, type RolledUp } from './roll-up.js'
import { batchesOfTraces, ROWS_AT_ONCE } from './trace-batches.js'
import { traceCache, type TraceCache } from './trace-cache.js'
import { unfinishedBelow } from './unfinished.js'
import { answeredCalls, firstStarted, type Answered } from './answered.js'

export type { Answered } from './answered.js'
export type { Billed } from './billing.js'
export { AnswerTooLarge } from './model-sets.js'
export { TraceTooLarge } from './load.js'
export { sortYielding } from './sort-yielding.js'

export interface UsageQuestion extends CallSelection {
  readonly limit: number
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

/**
 * Own usage and that of all descendants, for the calls that a filter and an operation select. What was made from other tables than those
 * that `generation` names now is not used again.
 */
export const usageFrom = (reader: ClickHouseReader, generation: () => string = () => '') => {
  const shared = {
    generation,
    cache: traceCache(),
    memory: remembered(),
    books: booksFrom(reader, generation),
  }
  return async (question: UsageQuestion, readerOfRequest = reader): Promise<UsageAnswer> => {
    const { filter, operation } = question
    const sources: Sources = { ...shared, reader: readerOfRequest }
    const wholeTraces = operation === null ? only('trace_ids', filter) : undefined
    if (wholeTraces !== undefined) {
      const answer = await ofWholeTraces(sources, question, wholeTraces)
      if (answer !== undefined) return answer
    }
    const { calls, more } = await matching(sources, question)
    return { ...(await ofSelected(sources, question, await byTrace(calls))), more }
  }
}

interface Sources {
  readonly reader: ClickHouseReader
  readonly generation: () => string
  readonly cache: TraceCache
  readonly books: Books
  readonly memory: Remembered
}

const byTrace = async (
  calls: readonly MatchingCall[],
): Promise<ReadonlyMap<string, readonly MatchingCall[]>> => {
  const yieldNow = yielding()
  const traces = new Map<string, MatchingCall[]>()
  for (const [index, call] of calls.entries()) {
    if (index % 64 === 0) await yieldNow()
    const trace = traces.get(call.trace_id)
    if (trace === undefined) traces.set(call.trace_id, [call])
    else trace.push(call)
  }
  return traces
}

/** A few calls that were asked for before are found without the engine. */
const matching = async (
  { reader, generation, memory }: Sources,
  question: UsageQuestion,
): Promise<Matching> => {
  const { projectId, filter, operation, limit } = question
  const tables = generation()
  const ids = operation === null ? only('call_ids', filter) : undefined
  const known = ids === undefined || ids.length > limit ? undefined : memory.calls(projectId, tables, ids)
  if (known !== undefined) return { calls: known, more: 0 }
  const found = await matchingCalls(reader, question, limit)
  if (ids !== undefined) memory.note(projectId, tables, found.calls)
  return found
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
  const { calls, more } = await firstStarted(rolledUp, question.limit)
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
  for (const traceIds of await batchesOfTraces(sources.reader, question.projectId, [...wanted.keys()])) {
    const rolledUp = await rolledUpTraces(sources, question, traceIds)
    const selected = traceIds.flatMap((traceId) => wanted.get(traceId) ?? [])
    const calls = await indexesOf(rolledUp, selected)
    answered.push(answeredCalls(rolledUp, calls))
    unfinishedDescendants += belowAnswered(rolledUp, calls)
  }
  return { answered, unfinishedDescendants }
}

const rolledUpTraces = async (
  { reader, generation, cache, memory, books }: Sources,
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
  const name = `${projectId}/${traceId}${costs === null ? '' : `\0${costs.list ?? ''}`}`
  const at = `${tables} ${position}`
  const seen = cache.get(name, memory.versionAt.get(name, at) ?? '')
  if (seen !== undefined) return seen
  const [{ rows, version }, reporting, prices] = await Promise.all([
    traceVersion(reader, projectId, traceId, position),
    usageReportingAt(reader, projectId, position),
    book(),
  ])
  const priced = prices === null ? '' : prices.version
  const kept =
    version === undefined || priced === undefined ? undefined : `${tables} ${version} ${reporting} ${priced}`
  if (kept !== undefined) memory.versionAt.put(name, at, kept)
  const known = kept === undefined ? undefined : cache.get(name, kept)
  if (known !== undefined) return known
  const columns = await loadTraces(reader, projectId, traceIds, position, {
    maxTraceCalls,
    expectedRows: rows,
  })
  const rolledUp = await rollUp(columns, reporting, prices)
  if (kept !== undefined) cache.put(name, kept, rolledUp)
  return rolledUp
}

const indexesOf = async (
  { find, deleted }: RolledUp,
  calls: readonly MatchingCall[],
): Promise<Int32Array> => {
  const yieldNow = yielding()
  const indexes: number[] = []
  for (const [index, { id, hash }] of calls.entries()) {
    if (index % 64 === 0) await yieldNow()
    const bytes = Buffer.from(id)
    const call = find(bytes, 0, bytes.length, hash)
    if (call >= 0 && deleted[call] === 0) indexes.push(call)
  }
  return Int32Array.from(indexes).sort()
}

const belowAnswered = (rolledUp: RolledUp, calls: Int32Array): number => {
  const isAnswered = new Uint8Array(rolledUp.size)
  for (const call of calls) isAnswered[call] = 1
  return unfinishedBelow(rolledUp, (call) => isAnswered[call] === 1)
}
