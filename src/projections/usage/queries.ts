import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import { countCalls } from '../calls/count.js'
import { soleValues } from '../calls/filter.js'
import { callParts } from '../calls/pages.js'
import type { CallSelection } from '../calls/select.js'
import { cachedBooks } from '../prices/cached-books.js'
import { listed, select, sql } from '../sql.js'
import { usageAnswer, type UsageAnswer } from './answer.js'
import { atOrBelow } from './inclusive-usage.js'
import {
  batchesOf,
  batchesOfTraces,
  loadTraces,
  loadTracesOfCalls,
  sumOfFacts,
  traceSizes,
  usageReportingAt,
  type TraceSize,
} from './facts.js'
import { locateCall, storedUsage, type MatchingCall } from './stored-usage.js'
import type { TraceCalls } from './trace.js'

export interface UsageRequest extends CallSelection {
  readonly limit: number
  /** The largest trace allowed, in calls. */
  readonly maxTraceCalls: number
  /** The price list for costs; `list: null` for the project's prices and the default list's. Null for no costs. */
  readonly costs?: { readonly list: string | null } | null
}

/**
 * Answers the usage of selected calls, each including all its descendants. Stored usage is read if their traces have many
 * facts.
 */
export const usageFrom = (generation: () => string = () => '', computedFacts = COMPUTED_FACTS) => {
  const books = cachedBooks(generation)
  return async (reader: ClickHouseReader, request: UsageRequest): Promise<UsageAnswer> => {
    const { projectId, position, costs = null } = request
    // The longest first: a team has only some of the readers.
    const [selected, reporting, book] = await Promise.all([
      selectedCalls(reader, request, computedFacts),
      usageReportingAt(reader, projectId, position),
      costs === null ? null : books(reader, { projectId, list: costs.list, position }),
    ])
    const answer = usageAnswer(reporting, book)
    return answer.finish(await add(reader, request, answer, selected, computedFacts))
  }
}

type Answer = ReturnType<typeof usageAnswer>

type SelectedCalls = Matches | { readonly whole: readonly string[] } | NamedCalls

interface Matches {
  readonly matching: readonly MatchingCall[]
  /** Of their traces, if they are known. */
  readonly sizes?: readonly TraceSize[]
}

interface NamedCalls {
  readonly named: readonly string[]
  readonly traces: TraceCalls
}

/** The traces, if all of their calls match; given calls, with their traces if these are small; else the first matches. */
const selectedCalls = async (
  reader: ClickHouseReader,
  request: UsageRequest,
  computedFacts: number,
): Promise<SelectedCalls> => {
  const whole = await wholeTraces(reader, request)
  if (whole !== undefined) return { whole }
  const named = await namedCalls(reader, request, computedFacts)
  return named ?? { matching: await matchingCalls(reader, request, request.limit) }
}

const MAX_NAMED = 1000
/** Computing the usage of traces with this many facts takes about as long as reading what is stored. */
const COMPUTED_FACTS = 10_000

const namedCalls = async (
  reader: ClickHouseReader,
  request: UsageRequest,
  computedFacts: number,
): Promise<NamedCalls | Matches | undefined> => {
  const { projectId, position, filter, operation, limit, maxTraceCalls } = request
  const named = operation === null ? soleValues(filter, 'call_ids') : undefined
  if (named === undefined || named.length > Math.min(limit, MAX_NAMED)) return undefined
  const [only = '', ...others] = named
  if (others.length === 0) {
    const call = await locateCall(reader, projectId, only, position)
    if (call !== undefined && call.facts > computedFacts)
      return call.deletions > 0
        ? undefined
        : { matching: [call], sizes: [{ traceId: call.trace_id, facts: call.facts }] }
  }
  const options = { maxFacts: computedFacts, maxTraceCalls }
  const traces = await loadTracesOfCalls(reader, projectId, named, position, options)
  return traces === undefined ? undefined : { named, traces }
}

/** Adds the selected calls, and returns the number of those beyond the limit. */
const add = async (
  reader: ClickHouseReader,
  request: UsageRequest,
  answer: Answer,
  selected: SelectedCalls,
  computedFacts: number,
): Promise<number> => {
  if ('whole' in selected) return addWhole(reader, request, answer, selected.whole)
  if ('matching' in selected) return addMatching(reader, request, answer, selected, computedFacts)
  const { traces, named } = selected
  await answer.add(traces, await indexesOf(traces, named))
  return 0
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
  const matching = await matchingCalls(reader, request, limit)
  const ids = matching.map(({ id }) => id)
  await answer.add(calls, await indexesOf(calls, ids))
  return countBeyond(reader, request, matching)
}

/** Adds the matching calls, and returns the number of those beyond the limit. */
const addMatching = async (
  reader: ClickHouseReader,
  request: UsageRequest,
  answer: Answer,
  { matching, sizes: known }: Matches,
  computedFacts: number,
): Promise<number> => {
  const { projectId, position, maxTraceCalls: maxFacts } = request
  const idsByTrace = await groupByTrace(matching)
  const [sizes, truncatedCount] = await Promise.all([
    known ?? traceSizes(reader, projectId, [...idsByTrace.keys()]),
    known === undefined ? countBeyond(reader, request, matching) : 0,
  ])
  let stored: ReadonlySet<string> = new Set()
  if (sumOfFacts(sizes) > computedFacts) {
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
): Promise<readonly MatchingCall[]> => {
  const sortBy = [{ field: 'started_at', direction: 'asc' } as const]
  const columns = sql`call_id AS id, assumeNotNull(call_trace_id) AS trace_id, call_started_at AS started_at`
  const parts = callParts<MatchingCall>(reader, columns, { ...request, sortBy, limit, offset: null })
  const calls: MatchingCall[] = []
  for await (const part of parts) calls.push(...part)
  return calls
}

/** How many calls match besides the first ones, up to the limit. */
const countBeyond = async (
  reader: ClickHouseReader,
  request: UsageRequest,
  first: readonly MatchingCall[],
): Promise<number> => {
  if (first.length < request.limit) return 0
  const { count } = await countCalls(reader)(request, null)
  return Math.max(0, count - first.length)
}

const groupByTrace = async (
  calls: readonly Pick<MatchingCall, 'id' | 'trace_id'>[],
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

/** The ids of started calls of a project and of all their descendants within their traces, including deleted ones. */
export const withDescendants =
  (reader: ClickHouseReader) =>
  async (projectId: string, callIds: readonly string[], position: Position): Promise<readonly string[]> => {
    const byTrace = await groupByTrace(
      await select<{ id: string; trace_id: string }>(
        reader,
        sql`SELECT DISTINCT id, trace_id FROM call_index
        WHERE project_id = ${projectId} AND id IN ${listed(callIds)} AND call_index.position <= ${position}`,
      ),
    )
    const found: string[] = []
    for await (const traceIds of batchesOfTraces(reader, projectId, [...byTrace.keys()])) {
      const calls = await loadTraces(reader, projectId, traceIds, position)
      const named = traceIds.flatMap((traceId) => byTrace.get(traceId) ?? [])
      const indexes = named.flatMap((id) => calls.indexOf.get(id) ?? [])
      for (const call of atOrBelow({ ...calls, isDeleted: [] }, indexes)) found.push(calls.ids[call]!)
    }
    return found
  }
