import { Readable } from 'node:stream'
import { arrayOf, nullable } from '../../domain/codec/containers.js'
import { boolean, int64 } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { id } from '../../domain/ids.js'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { Ports } from '../../domain/ports/ports.js'
import { callIds, callsById, countCalls, type CallId } from '../../projections/calls/queries.js'
import { begun } from '../http/begun.js'
import { readsFields, readsProject } from '../conduct.js'
import { asArray, asLines, JSON_LINES, linesOf } from '../http/json-pages.js'
import { requireReading, type Teams } from '../projects/access.js'
import type { Reading } from '../reading.js'
import { route, type AnyRoute, type Asked } from '../route.js'
import { feedbackOnCalls, pagesWithFeedback } from './call-feedback.js'
import { callJson } from './call-json.js'
import { readCall } from './call-schema.js'
import { foldedCall } from './folded-call.js'
import { requireModest } from './filter.js'
import { pages } from './pages.js'
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

export const callReadRoutes = ({ ports, teams, reading, reader }: CallReads): readonly AnyRoute[] => {
  const ready = (asked: Asked<{ readonly project_id: string }>): Promise<Position> => {
    requireReading(teams, asked.principal, asked.body.project_id)
    return reading.ready(asked.body.project_id, asked.headers)
  }

  const lines = async (asked: Asked<CallsQuery>) => {
    const { body } = asked
    requireServed(body)
    requireModest(body.filter)
    const sortBy = sortingOf(body.sort_by)
    const position = await ready(asked)
    const { project_id: projectId, filter, limit, offset } = body
    const ids = await callIds(reader)({ projectId, filter, position, sortBy, limit, offset })
    return { lines: await begun(textsOf(body, ids, position)), position }
  }

  async function* textsOf(asked: CallsQuery, ids: readonly CallId[], position: Position) {
    const { project_id: projectId, include_feedback, columns } = asked
    const wanted = wantedColumns(columns)
    const parts = include_feedback ? pagesWithFeedback(reader, projectId, ids, position) : pages(ids)
    for await (const part of parts) {
      const page = part.map(({ id }) => id)
      const calls = await callsById(reader)(projectId, page, position)
      const feedback = include_feedback
        ? await feedbackOnCalls(reader, projectId, page, position)
        : () => undefined
      yield calls.map((call) => callJson(call, wanted, feedback(call.id)))
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
        requireServed(asked.body)
        const { project_id, id: callId } = asked.body
        requireReading(teams, asked.principal, project_id)
        const position = await reading.inLog(asked.headers)
        const call = id.is(callId) ? await foldedCall(ports)(project_id, callId, position) : undefined
        const json = call === undefined ? 'null' : callJson(call, () => true)
        return { body: `{"call":${json}}`, type: 'application/json; charset=utf-8', position }
      },
    }),
    route({
      method: 'post',
      path: '/calls/query',
      summary: 'Read the calls that a filter selects, in one answer.',
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
      summary: 'Read the calls that a filter selects, one a line.',
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
      summary: 'Count the calls that a filter selects.',
      body: callsStats,
      ...readsProject,
      answer: open('CallsQueryStatsResponse', {
        required: { count: int64, has_more: boolean, total_storage_size_bytes: nullable(int64) },
      }),
      handle: async (asked) => {
        const { project_id, filter, limit } = asked.body
        requireServed(asked.body)
        requireModest(filter)
        const position = await ready(asked)
        const counted =
          filter?.thread_ids?.length === 0
            ? { count: 0, has_more: false }
            : await countCalls(reader)(project_id, filter, position, limit)
        return { body: { ...counted, total_storage_size_bytes: null }, position }
      },
    }),
  ]
}
