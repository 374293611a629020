import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { yielding } from '../../yield-to-event-loop.js'
import { countCalls } from '../calls/count.js'
import { NO_FILTER, soleValues } from '../calls/filter.js'
import { callParts } from '../calls/pages.js'
import type { CallSelection } from '../calls/select.js'
import { listed } from '../clickhouse-values.js'
import { booksFrom } from '../prices/queries-of-books.js'
import { usageAnswer, type UsageAnswer } from './answer.js'
import { atOrBelow } from './inclusive-usage.js'
import {
  batchesOf,
  batchesOfTraces,
  FACTS_AT_ONCE,
  loadTraces,
  traceSizes,
  usageReportingAt,
  type TraceSize,
} from './facts.js'
import { storedUsage, type MatchingCall } from './stored-usage.js'
import type { TraceCalls } from './trace.js'

export type { AnsweredCall, UsageAnswer } from './answer.js'
export { addCosts, costsOf, type Charge } from './charges.js'
export { AnswerTooLarge, type UsageByKey } from './inclusive-usage.js'
export { countersOf, saturated, SHOWN_COUNTERS } from './own-usage.js'
export { TraceTooLarge } from './trace.js'

export interface UsageRequest extends CallSelection {
  readonly limit: number
  /** The largest trace allowed, in calls. */
  readonly maxTraceCalls: number
  /** The price list for costs; `list: null` for the project's prices and the default list's. Null for no costs. */
  readonly costs?: { readonly list: string | null } | null
}

/**
 * Answers the usage of selected calls, each including all its descendants. Stored usage is read if their traces have too
 * many facts to load at once.
 */
export const usageFrom = (
  reader: ClickHouseReader,
  generation: () => string = () => '',
  factsAtOnce = FACTS_AT_ONCE,
) => {
  const books = booksFrom(reader, generation)
  return async (request: UsageRequest, readerOfRequest = reader): Promise<UsageAnswer> => {
    const { projectId, position, costs = null } = request
    const [reporting, book, selected] = await Promise.all([
      usageReportingAt(readerOfRequest, projectId, position),
      costs === null ? null : books({ projectId, list: costs.list, position }),
      selectedCalls(readerOfRequest, request, factsAtOnce),
    ])
    const answer = usageAnswer(reporting, book)
    const truncatedCount =
      'whole' in selected
        ? await addWhole(readerOfRequest, request, answer, selected.whole)
        : await addMatching(readerOfRequest, request, answer, selected, factsAtOnce)
    return answer.finish(truncatedCount)
  }
}

type Answer = ReturnType<typeof usageAnswer>

interface MatchingCalls {
  readonly calls: readonly MatchingCall[]
  /** Number of matching calls beyond the limit. */
  readonly truncatedCount: number
}

interface SizedCalls extends MatchingCalls {
  readonly idsByTrace: ReadonlyMap<string, readonly string[]>
  readonly sizes: readonly TraceSize[]
}

/** The matching calls up to the limit with the sizes of their traces, or only the traces if all their calls match. */
const selectedCalls = async (
  reader: ClickHouseReader,
  request: UsageRequest,
  factsAtOnce: number,
): Promise<SizedCalls | { readonly whole: readonly string[] }> => {
  const whole = await wholeTraces(reader, request)
  if (whole !== undefined) return { whole }
  const named = await namedCalls(reader, request)
  // `call_index` also lists deleted calls, and stored usage is read of existing ones.
  if (named !== undefined && factsOf(named) <= factsAtOnce) return named
  return withSizes(reader, request, await matchingCalls(reader, request, request.limit))
}

const withSizes = async (
  reader: ClickHouseReader,
  { projectId }: UsageRequest,
  matching: MatchingCalls,
): Promise<SizedCalls> => {
  const idsByTrace = await groupByTrace(matching.calls)
  return { ...matching, idsByTrace, sizes: await traceSizes(reader, projectId, [...idsByTrace.keys()]) }
}

const factsOf = ({ sizes }: SizedCalls): number => sizes.reduce((sum, { facts }) => sum + facts, 0)

/** The calls of a filter by ids alone, also deleted ones. Undefined for other filters, and more ids than the limit. */
const namedCalls = async (
  reader: ClickHouseReader,
  request: UsageRequest,
): Promise<SizedCalls | undefined> => {
  const { projectId, position, filter, operation, limit } = request
  const ids = operation === null ? soleValues(filter, 'call_ids') : undefined
  if (ids === undefined || ids.length > limit) return undefined
  const calls = await reader.query<MatchingCall>(
    `SELECT DISTINCT id, trace_id, started_at FROM call_index
    WHERE project_id = {project:String} AND id IN ${listed('ids')} AND position <= {position:UInt64}
    ORDER BY started_at, id`,
    { project: projectId, ids, position },
  )
  return withSizes(reader, request, { calls, truncatedCount: 0 })
}

/** Adds the calls of whole traces, and returns the number of those beyond the limit. */
const addWhole = async (
  reader: ClickHouseReader,
  request: UsageRequest,
  answer: Answer,
  traceIds: readonly string[],
): Promise<number> => {
  const { projectId, position, limit } = request
  const calls = await loadTraces(reader, projectId, traceIds, position, request)
  const living = Int32Array.from(calls.ids.keys()).filter((call) => calls.isDeleted[call] === 0)
  if (living.length <= limit) {
    await answer.add(calls, living)
    return 0
  }
  const { calls: first, truncatedCount } = await matchingCalls(reader, request, limit)
  const ids = first.map(({ id }) => id)
  await answer.add(calls, await indexesOf(calls, ids))
  return truncatedCount
}

/** Adds the matching calls, and returns the number of those beyond the limit. */
const addMatching = async (
  reader: ClickHouseReader,
  request: UsageRequest,
  answer: Answer,
  selected: SizedCalls,
  factsAtOnce: number,
): Promise<number> => {
  const { calls: matching, truncatedCount, idsByTrace, sizes } = selected
  const { projectId, position, maxTraceCalls: maxFacts } = request
  let stored: ReadonlySet<string> = new Set()
  if (factsOf(selected) > factsAtOnce) {
    const { budget } = answer
    const asked = { projectId, position, calls: matching, sizes, maxFacts, budget }
    const found = await storedUsage(reader, asked)
    if (found !== undefined) stored = await answer.addStored(found)
  }
  const left = sizes.filter(({ traceId }) => !stored.has(traceId))
  for (const traceIds of batchesOf(left)) {
    const calls = await loadTraces(reader, projectId, traceIds, position, request)
    const ids = traceIds.flatMap((traceId) => idsByTrace.get(traceId) ?? [])
    await answer.add(calls, await indexesOf(calls, ids))
  }
  return truncatedCount
}

/** The traces of a request that selects all calls of a few traces, so that their facts alone are the answer. */
const wholeTraces = async (
  reader: ClickHouseReader,
  { projectId, filter, operation }: UsageRequest,
): Promise<readonly string[] | undefined> => {
  const traceIds = operation === null ? soleValues(filter, 'trace_ids') : undefined
  if (traceIds === undefined) return undefined
  const batches: (readonly string[])[] = []
  for await (const batch of batchesOfTraces(reader, projectId, traceIds)) {
    batches.push(batch)
    if (batches.length > 1) return undefined
  }
  return batches[0]
}

/**
 * The first matching calls, by start and id.
 *
 * @throws UnknownField
 */
const matchingCalls = async (
  reader: ClickHouseReader,
  request: CallSelection,
  limit: number,
): Promise<MatchingCalls> => {
  const sortBy = [{ field: 'started_at', direction: 'asc' } as const]
  const columns = 'call_id AS id, assumeNotNull(call_trace_id) AS trace_id, call_started_at AS started_at'
  const parts = callParts<MatchingCall>(reader, columns, { ...request, sortBy, limit, offset: null })
  const calls: MatchingCall[] = []
  for await (const part of parts) calls.push(...part)
  if (calls.length < limit) return { calls, truncatedCount: 0 }
  const { count } = await countCalls(reader)(request, null)
  return { calls, truncatedCount: Math.max(0, count - calls.length) }
}

const groupByTrace = async (
  calls: readonly MatchingCall[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const pause = yielding()
  const traces = new Map<string, string[]>()
  for (const [n, { id, trace_id: traceId }] of calls.entries()) {
    if (n % 64 === 0) await pause()
    const ids = traces.get(traceId)
    if (ids === undefined) traces.set(traceId, [id])
    else ids.push(id)
  }
  return traces
}

const indexesOf = async ({ indexOf, isDeleted }: TraceCalls, ids: readonly string[]): Promise<Int32Array> => {
  const pause = yielding()
  const indexes: number[] = []
  for (const [n, id] of ids.entries()) {
    if (n % 64 === 0) await pause()
    const call = indexOf.get(id)
    if (call !== undefined && isDeleted[call] === 0) indexes.push(call)
  }
  return Int32Array.from(indexes)
}

/** The ids of existing calls of a project and of all their descendants within their traces. */
export const withDescendants =
  (reader: ClickHouseReader) =>
  async (projectId: string, callIds: readonly string[], position: Position): Promise<readonly string[]> => {
    const filter = { ...NO_FILTER, call_ids: callIds }
    const request = { projectId, filter, operation: null, position }
    const byTrace = await groupByTrace((await matchingCalls(reader, request, callIds.length)).calls)
    const found: string[] = []
    for await (const traceIds of batchesOfTraces(reader, projectId, [...byTrace.keys()])) {
      const calls = await loadTraces(reader, projectId, traceIds, position)
      const ids = traceIds.flatMap((traceId) => byTrace.get(traceId) ?? [])
      for (const call of atOrBelow(calls, await indexesOf(calls, ids))) found.push(calls.ids[call]!)
    }
    return found
  }
