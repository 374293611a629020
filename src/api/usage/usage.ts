import type { Services } from '../../application/services.js'
import { Readable } from 'node:stream'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { arrayOf, nullable, recordOf, withDefault } from '../../kernel/codec/containers.js'
import { boolean, int64, integerBetween, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { listName } from '../../domain/prices/events.js'
import { query } from '../../domain/query/query.js'
import { NO_FILTER } from '../../projections/calls/filter.js'
import { countCalls } from '../../projections/calls/count.js'
import { usageFrom, type UsageRequest } from '../../projections/usage/queries.js'
import type { UsageAnswer } from '../../projections/usage/answer.js'
import { inBody } from '../server/authorization.js'
import { Failure } from '../../application/failure.js'
import { refuseTooLarge } from '../../application/calls/too-large.js'
import { answering, type AnyRoute, type RouteRequest } from '../server/route.js'
import type { HasReader } from '../server/run.js'
import { readProject } from '../server/route-kinds.js'
import { requestedCosts, unpricedHeader, waitForPrices } from '../calls/requested-costs.js'
import { callsFilter, requireBoundedFilter, requireBoundedValues } from '../../application/calls/filter.js'
import { unpricedModels } from '../../application/calls/unpriced-models.js'
import { modelUsage, usageJson } from '../../application/calls/usage-json.js'

const USUAL_LIMIT = 10_000
const limit = withDefault(integerBetween(1, Number.MAX_SAFE_INTEGER), USUAL_LIMIT)
/** Limits the matching calls of one response, which are held in memory. */
const MAX_LIMIT = 1_000_000

const includeCosts = withDefault(boolean, false)

const traceUsageRequest = closed('TraceUsageRequest', {
  required: { project_id: projectId },
  optional: {
    filter: nullable(callsFilter),
    query: nullable(query),
    include_costs: includeCosts,
    limit,
    price_list: nullable(listName),
  },
})

const callsUsageRequest = closed('CallsUsageRequest', {
  required: { project_id: projectId, call_ids: arrayOf(string) },
  optional: { include_costs: includeCosts, limit },
})

const usageResponse = open('UsageResponse', {
  says: 'By call and model, including all descendants of the call.',
  required: { call_usage: recordOf(recordOf(modelUsage)), unfinished_call_ids: arrayOf(string) },
  optional: {
    /** Where there are more than a million. */
    unfinished_count: withDefault(int64, undefined),
    ...unpricedModels,
  },
})

const headers = [
  'Tallytree-Position',
  'Tallytree-Truncated',
  'Tallytree-Unfinished-Descendants',
  'Tallytree-Unpriced-Models',
] as const

export const usageRoutes = (
  services: Pick<Services, 'access' | 'reading' | 'maxTraceCalls'>,
): readonly AnyRoute[] => {
  const { reading, maxTraceCalls } = services
  const usage = usageFrom(reading.generation)
  const ask = async ({ reader, memory }: Asking, question: UsageRequest) => {
    await memory.reserve((await callsBeyondUsual(reader, question)) * MEMORY_PER_CALL)
    return usage(reader, question).catch(refuseTooLarge)
  }

  return [
    readProject(services, {
      method: 'post',
      path: '/trace/usage',
      summary: 'Usage of the calls that match a filter and a query, each including all its descendants.',
      body: traceUsageRequest,
      errors: ['forbidden'],
      response: answering(usageResponse, { headers }),
      project: inBody,
      handle: (request) => {
        const { body, project: projectId } = request
        const { filter, query, include_costs, price_list: list, limit } = body
        const costs = requestedCosts(include_costs, list)
        requireBoundedFilter(filter)
        requireBoundedLimit(limit)
        return {
          waitFor: () => waitForPrices(reading, request, costs),
          read: async (position) => {
            const operation = query?.$expr ?? null
            const question = { projectId, filter, operation, limit, costs, position, maxTraceCalls }
            const answer = await ask(request, question)
            return {
              ...streamed(usageJson(answer, { withCosts: costs !== null })),
              headers: headersOf(answer),
            }
          },
        }
      },
    }),
    readProject(services, {
      method: 'post',
      path: '/calls/usage',
      summary: 'Usage of the given calls, each including all its descendants.',
      body: callsUsageRequest,
      response: answering(usageResponse, { headers }),
      project: inBody,
      handle: (request) => {
        const { body, project: projectId } = request
        const { include_costs, limit } = body
        requireBoundedLimit(limit)
        const distinct = [...new Set(body.call_ids)]
        const call_ids = distinct.slice(0, limit)
        requireBoundedValues(call_ids, 'call_ids')
        const costs = include_costs ? { list: null } : null
        return {
          waitFor: () => waitForPrices(reading, request, costs),
          read: async (position) => {
            const filter = { ...NO_FILTER, call_ids }
            const question = { projectId, filter, operation: null, limit, costs, position, maxTraceCalls }
            const answer = call_ids.length === 0 ? NOTHING : await ask(request, question)
            const unknownIds = unknownAmong(call_ids, answer)
            return {
              ...streamed(usageJson(answer, { withCosts: include_costs, unknownIds })),
              headers: headersOf({ ...answer, truncatedCount: distinct.length - call_ids.length }),
            }
          },
        }
      },
    }),
  ]
}

type Asking = Pick<RouteRequest, 'memory'> & HasReader

/** Memory for a call of an answer: its row, its usage and what both are computed from. */
const MEMORY_PER_CALL = 2048

/** The number of calls in the answer, 0 for as few as the default limit, which take little memory. */
const callsBeyondUsual = async (reader: ClickHouseReader, question: UsageRequest): Promise<number> => {
  if (question.limit <= USUAL_LIMIT) return 0
  const { count } = await countCalls(reader)(question, question.limit)
  return count <= USUAL_LIMIT ? 0 : count
}

const requireBoundedLimit = (limit: number): void => {
  if (limit > MAX_LIMIT)
    throw new Failure('too-large', `limit should be at most ${MAX_LIMIT}. Request fewer calls.`)
}

const NOTHING: UsageAnswer = {
  calls: [],
  truncatedCount: 0,
  unfinishedDescendants: 0,
  unfinishedIds: new Set(),
  unfinishedCount: 0,
  unpricedModels: [],
}

const streamed = (chunks: AsyncGenerator<string>) => ({
  body: Readable.from(chunks, { objectMode: false, highWaterMark: 1 }),
  type: 'application/json; charset=utf-8',
})

const headersOf = ({ truncatedCount, unfinishedDescendants, unpricedModels }: UsageAnswer) => ({
  ...(truncatedCount > 0 ? { 'Tallytree-Truncated': String(truncatedCount) } : {}),
  ...unpricedHeader(unpricedModels.length),
  'Tallytree-Unfinished-Descendants': String(unfinishedDescendants),
})

const unknownAmong = (callIds: readonly string[], { calls }: UsageAnswer): readonly string[] => {
  const unknown = new Set(callIds)
  for (const { id } of calls) unknown.delete(id)
  return [...unknown]
}
