import { Readable } from 'node:stream'
import type * as t from 'io-ts'
import { arrayOf, nullable } from '../../domain/codec/containers.js'
import { boolean, int64 } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { entityOf, id } from '../../domain/ids.js'
import type { JsonObject } from '../../domain/json/json.js'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { Ports } from '../../domain/ports/ports.js'
import {
  callIdPages,
  callsById,
  countCalls,
  type CallId,
  type StoredCall,
} from '../../projections/calls/queries.js'
import { booksFrom } from '../../projections/prices/queries-of-books.js'
import { begun } from '../http/begun.js'
import { readsFields, readsProject } from '../conduct.js'
import { readerOfRequest } from '../http/reader-of-request.js'
import { asArray, asLines, JSON_LINES, linesOf } from '../http/json-pages.js'
import { requireReading, type Teams } from '../projects/access.js'
import type { Reading } from '../reading.js'
import { route, type AnyRoute, type Asked } from '../route.js'
import { callCosts } from './call-costs.js'
import { sourcesFrom } from '../refs/sources.js'
import { feedbackOnCalls, pagesWithFeedback } from './call-feedback.js'
import { extrasOf } from './call-extras.js'
import { callJson } from './call-json.js'
import { readCall } from './call-schema.js'
import { readyWithPrices } from './costs-asked.js'
import { expanded, expansionOf, requireInFront } from './expansion.js'
import { foldedCall } from './folded-call.js'
import { requireModest } from './filter.js'
import { pagesOf } from './pages.js'
import {
  callRead,
  callsQuery,
  callsStats,
  requireServed,
  sortingOf,
  wantedColumns,
  type CallsQuery,
} from './query-codecs.js'

export interface CallReads {
  readonly ports: Pick<Ports, 'eventStore' | 'blobs'>
  readonly teams: Teams
  readonly reading: Reading
  readonly reader: ClickHouseReader
}

interface ReadBody {
  readonly project_id: string
  readonly include_costs?: boolean | null
}

export const callReadRoutes = ({ ports, teams, reading, reader: shared }: CallReads): readonly AnyRoute[] => {
  const books = booksFrom(shared, reading.generation)
  const ready = async ({ body, principal, headers }: Asked<ReadBody>): Promise<Position> => {
    requireReading(teams, principal, body.project_id)
    const costs = body.include_costs === true ? { list: null } : null
    return readyWithPrices({ reading, reader: shared }, body.project_id, costs, headers)
  }

  /** What calls cost, where that was asked for. */
  const costsAt = async ({ project_id, include_costs }: ReadBody, position: Position) => {
    if (include_costs !== true) return undefined
    const book = await books({ projectId: project_id, list: null, position })
    return (call: StoredCall, summary: JsonObject) => callCosts(book, call, summary)
  }

  const lines = async (asked: Asked<CallsQuery>) => {
    const { body } = asked
    requireServed(body)
    requireModest(body.filter)
    const sortBy = sortingOf(body.sort_by)
    const operation = body.query?.$expr ?? null
    requireInFront(body.expand_columns, operation, sortBy)
    const ways = body.return_expanded_column_values ? expansionOf(body.expand_columns) : []
    const position = await ready(asked)
    const { project_id: projectId, filter, limit, offset } = body
    const question = { projectId, filter, operation, position, sortBy, limit, offset }
    const reader = readerOfRequest(shared, asked.onGone)
    const ids = callIdPages(reader, question)
    const expand = (calls: readonly StoredCall[]) =>
      ways.length === 0 ? calls : expanded(sourcesOf(asked, reader), calls, ways)
    return { lines: await begun(textsOf(body, reader, ids, position, expand)), position }
  }

  /** What references in a call may lead to: what the asker may read. */
  const sourcesOf = ({ principal, headers }: Asked<unknown>, reader: ClickHouseReader) =>
    sourcesFrom(reader, async (projectId) =>
      teams.mayUse(principal, entityOf(projectId)) ? reading.ready(projectId, headers) : undefined,
    )

  async function* textsOf(
    asked: CallsQuery,
    reader: ClickHouseReader,
    ids: AsyncIterable<readonly CallId[]>,
    position: Position,
    expand: (calls: readonly StoredCall[]) => readonly StoredCall[] | Promise<readonly StoredCall[]>,
  ) {
    const { project_id: projectId, include_feedback } = asked
    const wanted = wantedColumns(asked)
    const costs = await costsAt(asked, position)
    for await (const part of include_feedback
      ? pagesWithFeedback(reader, projectId, ids, position)
      : pagesOf(ids)) {
      const page = part.map(({ id }) => id)
      const calls = await expand(await callsById(reader)(projectId, page, position))
      const extras = await extrasOf(reader, projectId, calls, position, asked)
      const feedback = include_feedback
        ? await feedbackOnCalls(reader, projectId, page, position)
        : () => undefined
      yield calls.map((call) =>
        callJson(call, wanted, { feedback: feedback(call.id), costs, others: extras(call) }),
      )
    }
  }

  return [
    route({
      method: 'post',
      path: '/call/read',
      summary: 'Read one call; null when there is none.',
      body: callRead,
      ...readsProject,
      answer: open('CallReadResponse', { required: { call: nullable(readCall) } }),
      handle: async (asked) => {
        const { project_id, id: callId } = asked.body
        requireReading(teams, asked.principal, project_id)
        const position = readsModels(asked.body) ? await ready(asked) : await reading.inLog(asked.headers)
        const call = id.is(callId) ? await foldedCall(ports)(project_id, callId, position) : undefined
        const costs = await costsAt(asked.body, position)
        const extras = await extrasOf(shared, project_id, call ? [call] : [], position, asked.body)
        const json = call === undefined ? 'null' : callJson(call, () => true, { costs, others: extras(call) })
        return { body: `{"call":${json}}`, type: 'application/json; charset=utf-8', position }
      },
    }),
    route({
      method: 'post',
      path: '/calls/query',
      summary: 'Read the calls that a filter and a query select, in one answer.',
      body: callsQuery,
      ...readsFields,
      answer: open('CallsQueryResponse', { required: { calls: arrayOf(readCall) } }),
      handle: async (asked) => {
        const { lines: pagesOfLines, position } = await lines(asked)
        return {
          body: Readable.from(asArray('calls', pagesOfLines)),
          type: 'application/json; charset=utf-8',
          position,
        }
      },
    }),
    route({
      method: 'post',
      path: '/calls/stream_query',
      summary: 'Read the calls that a filter and a query select, one a line.',
      body: callsQuery,
      ...readsFields,
      answer: { schema: linesOf('One call a line.', readCall.schema), type: JSON_LINES },
      handle: async (asked) => {
        const { lines: pagesOfLines, position } = await lines(asked)
        return { body: Readable.from(asLines(pagesOfLines)), type: JSON_LINES, position }
      },
    }),
    route({
      method: 'post',
      path: '/calls/query_stats',
      summary: 'Count the calls that a filter and a query select.',
      body: callsStats,
      ...readsFields,
      answer: open('CallsQueryStatsResponse', {
        required: { count: int64, has_more: boolean, total_storage_size_bytes: nullable(int64) },
      }),
      handle: async (asked) => {
        const { project_id: projectId, filter, query, limit, include_total_storage_size } = asked.body
        const operation = query?.$expr ?? null
        requireModest(filter)
        requireInFront(asked.body.expand_columns, operation, [])
        const position = await ready(asked)
        const counted =
          filter?.thread_ids?.length === 0
            ? { count: 0, has_more: false, bytes: 0 }
            : await countCalls(readerOfRequest(shared, asked.onGone))(
                { projectId, filter, operation, position },
                limit,
              )
        const { bytes, ...body } = counted
        const total_storage_size_bytes = include_total_storage_size ? bytes : null
        return { body: { ...body, total_storage_size_bytes }, position }
      },
    }),
  ]
}

/** Whether a call is told with more than its own stream knows. */
const readsModels = (asked: t.TypeOf<typeof callRead>): boolean =>
  asked.include_costs || asked.include_storage_size || asked.include_total_storage_size
