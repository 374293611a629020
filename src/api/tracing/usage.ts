import { Readable } from 'node:stream'
import { arrayOf, nullable, recordOf, withDefault } from '../../domain/codec/containers.js'
import { boolean, int64, integerBetween, number, string } from '../../domain/codec/leaves.js'
import { closed, open } from '../../domain/codec/struct.js'
import { projectId } from '../../domain/ids.js'
import { listName } from '../../domain/price/events.js'
import { query, type Query } from '../../domain/query/query.js'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import { NO_FILTER } from '../../projections/calls/queries.js'
import {
  AnswerTooLarge,
  TraceTooLarge,
  usageFrom,
  type UsageAnswer,
} from '../../projections/usage/queries.js'
import { readsFields, readsProject } from '../conduct.js'
import { Failure } from '../failure.js'
import { readerOfRequest } from '../http/reader-of-request.js'
import { requireReading, type Teams } from '../projects/access.js'
import type { Reading } from '../reading.js'
import { route, type AnyRoute, type Asked } from '../route.js'
import { needsCosts, readyWithPrices, type CostsAsked } from './costs-asked.js'
import { callsFilter, requireModest, requireShort, type CallsFilter } from './filter.js'
import { unpricedHeader, unpricedModels } from './usage-costs.js'
import { usageJson } from './usage-json.js'

const limit = withDefault(integerBetween(1, Number.MAX_SAFE_INTEGER), 10_000)
/** Matching calls that one answer holds in memory. */
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

const cost = nullable(number)

const modelUsage = open('ModelUsage', {
  required: {
    requests: int64,
    prompt_tokens: int64,
    completion_tokens: int64,
    total_tokens: int64,
    cache_read_input_tokens: int64,
    cache_creation_input_tokens: int64,
    prompt_tokens_total_cost: cost,
    completion_tokens_total_cost: cost,
    cache_read_input_tokens_total_cost: cost,
    cache_creation_input_tokens_total_cost: cost,
  },
})

const usageResponse = open('UsageResponse', {
  says: 'By call and model, each with all descendants of the call.',
  required: { call_usage: recordOf(recordOf(modelUsage)), unfinished_call_ids: arrayOf(string) },
})

const headers = [
  'Tallytree-Position',
  'Tallytree-Truncated',
  'Tallytree-Unfinished-Descendants',
  'Tallytree-Unpriced-Models',
] as const

export interface UsageReads {
  readonly teams: Teams
  readonly reading: Reading
  readonly reader: ClickHouseReader
  readonly maxTraceCalls: number
}

interface Wanted {
  readonly projectId: string
  readonly filter: CallsFilter | null
  readonly query: Query | null
  readonly limit: number
  readonly costs: CostsAsked
}

/** `/trace/usage` and `/calls/usage`: usage with all descendants, streamed. */
export const usageRoutes = (reads: UsageReads): readonly AnyRoute[] => {
  const usage = usageFrom(reads.reader, reads.reading.generation)
  const ask = async (asked: Asked<unknown>, wanted: Wanted, known?: UsageAnswer) => {
    const { query, ...others } = wanted
    const { projectId, costs } = wanted
    requireReading(reads.teams, asked.principal, projectId)
    const position = await readyWithPrices(reads, projectId, costs, asked.headers)
    const question = {
      ...others,
      operation: query?.$expr ?? null,
      position,
      maxTraceCalls: reads.maxTraceCalls,
    }
    const answer =
      known ?? (await usage(question, readerOfRequest(reads.reader, asked.onGone)).catch(refuseTooLarge))
    return { answer, position }
  }

  return [
    route({
      method: 'post',
      path: '/trace/usage',
      summary: 'Usage of the calls that a filter and a query select, each with all its descendants.',
      body: traceUsageRequest,
      ...readsFields,
      answer: { schema: usageResponse.schema, headers },
      handle: async (asked) => {
        const { project_id, filter, query, include_costs, price_list: list, limit } = asked.body
        if (list !== null && !include_costs) throw needsCosts('include_costs')
        requireModest(filter)
        if (limit > MAX_LIMIT)
          throw new Failure(
            'too-large',
            `limit is at most ${MAX_LIMIT}. Ask for fewer calls at once, with a narrower filter.`,
          )
        const costs = include_costs ? { list } : null
        const { answer, position } = await ask(asked, { projectId: project_id, filter, query, limit, costs })
        return { ...streamed(usageJson(answer.answered)), headers: headersOf(answer), position }
      },
    }),
    route({
      method: 'post',
      path: '/calls/usage',
      summary: 'Usage of the given calls, each with all its descendants.',
      body: callsUsageRequest,
      ...readsProject,
      answer: { schema: usageResponse.schema, headers },
      handle: async (asked) => {
        const { project_id, include_costs, limit } = asked.body
        const distinct = [...new Set(asked.body.call_ids)]
        const call_ids = distinct.slice(0, limit)
        requireShort(call_ids)
        const costs = include_costs ? { list: null } : null
        const wanted = {
          projectId: project_id,
          filter: { ...NO_FILTER, call_ids },
          query: null,
          limit,
          costs,
        }
        const { answer, position } = await ask(asked, wanted, call_ids.length === 0 ? NOTHING : undefined)
        const headers = headersOf({ ...answer, more: distinct.length - call_ids.length })
        return { ...streamed(usageJson(answer.answered, unknownAmong(call_ids, answer))), headers, position }
      },
    }),
  ]
}

const NOTHING: UsageAnswer = { answered: [], more: 0, unfinishedDescendants: 0 }

const streamed = (chunks: AsyncGenerator<Buffer>) => ({
  body: Readable.from(chunks, { objectMode: false, highWaterMark: 1 }),
  type: 'application/json; charset=utf-8',
})

const headersOf = ({ answered, more, unfinishedDescendants }: UsageAnswer) => {
  return {
    ...(more > 0 ? { 'Tallytree-Truncated': String(more) } : {}),
    ...unpricedHeader(unpricedModels(answered)),
    'Tallytree-Unfinished-Descendants': String(unfinishedDescendants),
  }
}

const unknownAmong = (callIds: readonly string[], { answered }: UsageAnswer): readonly string[] => {
  const unknown = new Set(callIds)
  for (const { size, ids } of answered)
    for (let call = 0; call < size; call += 1)
      unknown.delete(
        Buffer.from(ids.bytes.subarray(ids.offsets[call], ids.offsets[call + 1])).toString('utf8'),
      )
  return [...unknown]
}

/** Rethrows what is too large to be answered as that. */
export const refuseTooLarge = (error: unknown): never => {
  if (error instanceof TraceTooLarge)
    throw new Failure(
      'too-large',
      `A trace has more than ${error.limit} calls, the limit of TALLYTREE_MAX_TRACE_CALLS. An operator can raise it.`,
    )
  if (error instanceof AnswerTooLarge)
    throw new Failure('too-large', 'The calls of a trace have usage of too many models to be summed up.')
  throw error
}
