import { Readable } from 'node:stream'
import type { Clock } from '../../domain/ports/clock.js'
import { instantOf } from '../../domain/codec/instant.js'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import { callStats, usageStats, type Figures } from '../../projections/stats/queries.js'
import { readsProject } from '../conduct.js'
import { invalidField } from '../failure.js'
import { requireReading, type Teams } from '../projects/access.js'
import type { Reading } from '../reading.js'
import { route, type AnyRoute } from '../route.js'
import { requireModest } from '../tracing/filter.js'
import { refuseTooLarge } from '../tracing/usage.js'
import { callStatsRequest, callStatsResponse } from './codecs.js'
import { requireProportion, wantedOf } from './metrics.js'
import { rangeOf } from './range.js'

export interface StatsReads {
  readonly ports: { readonly clock: Clock }
  readonly teams: Teams
  readonly reading: Reading
  readonly reader: ClickHouseReader
  readonly maxTraceCalls: number
}

/** `/calls/stats`: what calls used and what became of them, in buckets of time (facts: tracing API 1.2). */
export const statsRoutes = ({
  ports,
  teams,
  reading,
  reader,
  maxTraceCalls,
}: StatsReads): readonly AnyRoute[] => [
  route({
    method: 'post',
    path: '/calls/stats',
    summary:
      'What calls used themselves and what became of them, in buckets of the time at which they began.',
    body: callStatsRequest,
    ...readsProject,
    answer: callStatsResponse,
    handle: async ({ body, principal, headers }) => {
      const { project_id: projectId, filter, query, start, timezone } = body
      requireReading(teams, principal, projectId)
      if (query !== null)
        throw invalidField(['query'], 'value_error', 'Value error, query is not served yet: leave it out')
      requireModest(filter)
      const usage = wantedOf('usage_metrics', body.usage_metrics)
      const calls = wantedOf('call_metrics', body.call_metrics)
      const end = body.end ?? instantOf(ports.clock.now())
      const { granularity, starts } = rangeOf({ start, end, granularity: body.granularity, timezone })
      for (const wanted of [usage, calls]) requireProportion(starts.length, wanted)
      const requireFew = (models: number) => requireProportion(starts.length, usage, models)

      const position = await reading.ready(projectId, headers)
      const span = { projectId, filter, position, start, end, starts }
      const usageBuckets =
        usage.length === 0
          ? []
          : await usageStats(reader)(span, usage, { maxTraceCalls, requireFew }).catch(refuseTooLarge)
      const callBuckets = calls.length === 0 ? [] : await callStats(reader)(span, calls)
      const head = JSON.stringify({ start, end, granularity, timezone }).slice(0, -1)
      return {
        body: Readable.from(answerOf(head, usageBuckets, callBuckets), { objectMode: false }),
        type: 'application/json; charset=utf-8',
        position,
      }
    },
  }),
]

interface Bucket {
  readonly start: number
  readonly model?: string
  readonly calls: number
  readonly figures: Figures
}

const PIECE_CHARACTERS = 64 * 1024

function* answerOf(head: string, usage: Iterable<Bucket>, calls: Iterable<Bucket>): Generator<string> {
  yield `${head},"usage_buckets":[`
  yield* listed(usage)
  yield '],"call_buckets":['
  yield* listed(calls)
  yield ']}'
}

function* listed(buckets: Iterable<Bucket>): Generator<string> {
  let text = ''
  let separator = ''
  for (const { start, model, calls, figures } of buckets) {
    const timestamp = instantOf(new Date(start * 1000))
    const told = { timestamp, ...(model === undefined ? {} : { model }), ...figures, count: calls }
    text += separator + JSON.stringify(told)
    separator = ','
    if (text.length < PIECE_CHARACTERS) continue
    yield text
    text = ''
  }
  yield text
}
