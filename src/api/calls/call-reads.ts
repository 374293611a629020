import { erasedCalls } from '../../projections/erasures/without-figures.js'
import { erasedCallsField } from './erased-calls.js'
import { positionsAsOf, readConditionsIn } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import type * as t from 'io-ts'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { boolean, int64 } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { id } from '../../kernel/ids.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { mapInSteps } from '../../kernel/yield-to-event-loop.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { CallId } from '../../projections/calls/pages.js'
import { callsByKey } from '../../projections/calls/read.js'
import { countCalls } from '../../projections/calls/count.js'
import type { CallSelection } from '../../projections/calls/select.js'
import type { StoredCall } from '../../projections/calls/columns.js'
import { cachedBooks, type Books } from '../../projections/prices/cached-books.js'
import { usageFrom } from '../../projections/usage/queries.js'
import { inBody } from '../server/authorization.js'
import { JSON_LINES, linesOf, streamedArray, streamedLines } from '../server/json-pages.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { readProject, type ProjectRequest } from '../server/route-kinds.js'
import { callCosts, knownOfUsage } from '../../application/calls/call-costs.js'
import { sourcesFrom } from '../../application/calls/ref-sources.js'
import { extrasOf, feedbackOnCalls, pagesWithFeedback, usageOn } from './call-extras.js'
import { callJson, readCall } from '../../application/calls/call-json.js'
import { waitForPrices } from './requested-costs.js'
import { expandRefs, expansionPaths } from './expand-refs.js'
import { matchingIds } from './matching-ids.js'
import { withReferencedFields } from './referenced-fields.js'
import { foldedCall } from '../../application/calls/folded-call.js'
import { requireBoundedFilter } from '../../application/calls/filter.js'
import { pagesOf } from '../../application/calls/pages.js'
import { refuseTooLarge } from '../../application/calls/too-large.js'
import { readWithUsage, requireLimit, usedUsage } from './usage-fields.js'
import {
  callRead,
  callsQuery,
  callsStats,
  refuseUnsupported,
  requestedColumns,
  type CallsQuery,
} from './query-codecs.js'

/** The services of these routes, with the caches that the routes share. */
interface CallReads extends Pick<Services, 'eventStore' | 'blobs' | 'access' | 'reading'> {
  readonly books: Books
  readonly usageOf: ReturnType<typeof usageOn>
}

export const callReadRoutes = (
  services: Pick<Services, 'eventStore' | 'blobs' | 'access' | 'reading' | 'maxTraceCalls'>,
): readonly AnyRoute[] => {
  const { generation } = services.reading
  const reads: CallReads = {
    ...services,
    books: cachedBooks(generation),
    usageOf: usageOn(usageFrom(generation), services.maxTraceCalls),
  }
  return [readOneCall(reads), queryCalls(reads), streamCalls(reads), countQueriedCalls(reads)]
}

const readOneCall = (reads: CallReads): AnyRoute =>
  readProject(reads, {
    method: 'post',
    path: '/call/read',
    summary: 'Read one call; null if it does not exist.',
    body: callRead,
    response: open('CallReadResponse', { required: { call: nullable(readCall) } }),
    project: inBody,
    handle: (request) => {
      const { body, headers, reader } = request
      const { project_id, id: callId } = body
      return {
        waitFor: readsModels(body)
          ? waitFor(reads, request, body.include_costs)
          : () => reads.reading.logPosition(readConditionsIn(headers)),
        read: async (position) => {
          const call = id.is(callId) ? await foldedCall(reads)(project_id, callId, position) : undefined
          const costs = await costsAt(reads, request, position)
          const extras = await extrasOf(reader, project_id, call ? [call] : [], position, body)
          const json =
            call === undefined ? 'null' : callJson(call, () => true, { costs, others: extras(call) })
          return { body: `{"call":${json}}`, type: 'application/json; charset=utf-8' }
        },
      }
    },
  })

/** Whether the response needs more than the call's own stream. */
const readsModels = (body: t.TypeOf<typeof callRead>): boolean =>
  body.include_costs || body.include_storage_size || body.include_total_storage_size

const queryCalls = (reads: CallReads): AnyRoute =>
  readProject(reads, {
    method: 'post',
    path: '/calls/query',
    summary: 'Read the calls that match a filter and a query in one response.',
    body: callsQuery,
    errors: ['forbidden'],
    response: open('CallsQueryResponse', { required: { calls: arrayOf(readCall) } }),
    project: inBody,
    handle: (request) => answer(reads, request, streamedArray('calls')),
  })

const streamCalls = (reads: CallReads): AnyRoute =>
  readProject(reads, {
    method: 'post',
    path: '/calls/stream_query',
    summary: 'Stream the calls that match a filter and a query, one per line.',
    body: callsQuery,
    errors: ['forbidden'],
    response: { schema: linesOf('One call per line.', readCall.schema), type: JSON_LINES },
    project: inBody,
    handle: (request) => answer(reads, request, streamedLines),
  })

type QueryRequest = ProjectRequest & Pick<RouteRequest<CallsQuery>, 'body' | 'principal' | 'memory'>

/** Memory for a byte of a page: the engine's rows, their values, and the text of the answer twice. */
const MEMORY_PER_BYTE = 4

/** Answers a query with the JSON texts of the calls by page, streamed as given. */
const answer = (reads: CallReads, request: QueryRequest, streamed: typeof streamedLines) => {
  const { body, reader } = request
  refuseUnsupported(body)
  if (body.include_usage) requireLimit(body.limit)
  const { hasCosts, pagesAt } = matchingIds(reads, request)
  const ways = body.return_expanded_column_values ? expansionPaths(body.expand_columns) : []
  const sources = () => sourcesFrom(reader, positionsAsOf(reads, request))
  const expand = (calls: readonly StoredCall[]) =>
    ways.length === 0 ? calls : expandRefs(sources(), calls, ways)
  return {
    waitFor: waitFor(reads, request, body.include_costs || hasCosts),
    read: async (position: Position) => {
      return streamed(textsOf(reads, request, pagesAt(position), position, expand))
    },
  }
}

async function* textsOf(
  reads: CallReads,
  request: QueryRequest,
  ids: AsyncIterable<readonly CallId[]>,
  position: Position,
  expand: (calls: readonly StoredCall[]) => readonly StoredCall[] | Promise<readonly StoredCall[]>,
) {
  const { body, reader, memory } = request
  const { project_id: projectId, include_feedback, include_usage, include_costs } = body
  const wanted = requestedColumns(body)
  const costing = costsAt(reads, request, position)
  // Without this, an error before the first page, which awaits it, would end the process.
  costing.catch(() => undefined)
  let reserved = 0
  for await (const part of include_feedback
    ? pagesWithFeedback(reader, projectId, ids, position)
    : pagesOf(ids)) {
    const page = part.map(({ id }) => id)
    const bytes = part.reduce((sum, call) => sum + call.bytes, 0) * MEMORY_PER_BYTE
    if (bytes > reserved) await memory.reserve(bytes - reserved)
    reserved = Math.max(reserved, bytes)
    const [stored, costs, usage] = await Promise.all([
      callsByKey(reader)(projectId, part, position),
      costing,
      include_usage
        ? reads.usageOf(reader, projectId, page, position, include_costs).catch(refuseTooLarge)
        : () => undefined,
    ])
    const calls = await expand(stored)
    const extras = await extrasOf(reader, projectId, calls, position, body)
    const feedback = include_feedback
      ? await feedbackOnCalls(reader, projectId, page, position)
      : () => undefined
    yield await mapInSteps(calls, (call) =>
      callJson(call, wanted, {
        feedback: feedback(call.id),
        costs,
        usage: usage(call.id),
        others: extras(call),
      }),
    )
  }
}

const countQueriedCalls = (reads: CallReads): AnyRoute =>
  readProject(reads, {
    method: 'post',
    path: '/calls/query_stats',
    summary: 'Count the calls that match a filter and a query.',
    body: callsStats,
    errors: ['forbidden'],
    response: open('CallsQueryStatsResponse', {
      required: { count: int64, has_more: boolean, total_storage_size_bytes: nullable(int64) },
      optional: { erased_calls: erasedCallsField },
    }),
    project: inBody,
    handle: (request) => {
      const { body, project: projectId, reader } = request
      const { filter, query, limit, include_total_storage_size: withBytes, expand_columns } = body
      const operation = query?.$expr ?? null
      requireBoundedFilter(filter)
      const usage = usedUsage(operation, [])
      const count = (selected: CallSelection) => countCalls(reader)(selected, limit, withBytes)
      return {
        waitFor: waitFor(reads, request, usage.hasCosts),
        read: async (position) => {
          const sources = () => sourcesFrom(reader, positionsAsOf(reads, request))
          const query = { selection: { projectId, filter, operation, position }, sortBy: [] }
          const { selection } = await withReferencedFields(reader, sources, query, expand_columns)
          const { bytes, ...counted } =
            filter?.thread_ids?.length === 0
              ? { count: 0, has_more: false, bytes: withBytes ? 0 : null }
              : usage.isUsed
                ? await readWithUsage(reader, reads.books, selection, usage, count)
                : await count(selection)
          const erased_calls = await erasedCalls(reader, projectId, position)
          // Clients of Weave know no such member.
          const erased = erased_calls === 0 ? {} : { erased_calls }
          return { body: { ...counted, total_storage_size_bytes: bytes, ...erased } }
        },
      }
    },
  })

const waitFor =
  ({ reading }: CallReads, request: ProjectRequest, needsPrices: boolean) =>
  (): Promise<Position> =>
    waitForPrices(reading, request, needsPrices ? { list: null } : null)

interface CostRequest {
  readonly body: { readonly project_id: string; readonly include_costs?: boolean | null }
  readonly reader: ClickHouseReader
}

/** The cost function, if costs were requested. */
const costsAt = async (
  { books }: CallReads,
  { body: { project_id: projectId, include_costs }, reader }: CostRequest,
  position: Position,
) => {
  if (include_costs !== true) return undefined
  const book = await books(reader, { projectId, list: null, position })
  return (call: StoredCall, summary: JsonObject) => callCosts(book, call, summary, knownOfUsage(call))
}
