import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import { COUNTERS } from '../usage/fold.js'
import { loadTraces, traceSizes, usageReportingAt } from '../usage/load.js'
import { nativeBlocks, type Numbers, type Strings } from '../usage/native.js'
import { eachOwnEntry, type Counters } from '../usage/own-entries.js'
import type { TraceColumns } from '../usage/trace-columns.js'
import { figures, type Figures, type Wanted } from './metric.js'
import { BUCKET, inSpan, startsParameter, type Span } from './span.js'
import { roomForValues, Sums } from './sums.js'

/** Counters of usage by the names that they have here. */
const COUNTER: Readonly<Record<UsageMetric, (typeof COUNTERS)[number]>> = {
  requests: 'requests',
  input_tokens: 'prompt_tokens',
  prompt_tokens: 'prompt_tokens',
  output_tokens: 'completion_tokens',
  completion_tokens: 'completion_tokens',
  total_tokens: 'total_tokens',
  cache_read_input_tokens: 'cache_read_input_tokens',
  cache_creation_input_tokens: 'cache_creation_input_tokens',
}

export const USAGE_METRICS = [
  'requests',
  'input_tokens',
  'prompt_tokens',
  'output_tokens',
  'completion_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const
export type UsageMetric = (typeof USAGE_METRICS)[number]

export interface UsageBucket {
  /** In seconds since 1970. */
  readonly start: number
  readonly model: string
  /** How many calls used the model. */
  readonly calls: number
  readonly figures: Figures
}

interface Limits {
  /** The largest trace that one answer may work on, in calls. */
  readonly maxTraceCalls: number
  /** Refuses an answer that would have so many models. */
  readonly requireFew: (models: number) => void
}

const TRACES_AT_ONCE = 5000
const ROWS_AT_ONCE = 250_000

/**
 * What the calls of each bucket used themselves, by model, in the order of buckets and models. A call's own usage depends
 * on its neighbours, so whole traces are loaded, some at a time; what is kept is the sums.
 */
export const usageStats =
  (reader: ClickHouseReader) =>
  async (
    span: Span,
    wanted: readonly Wanted<UsageMetric>[],
    limits: Limits,
  ): Promise<Iterable<UsageBucket>> => {
    const reporting = await usageReportingAt(reader, span.projectId, span.position)
    const gathered = gathering(span, wanted, limits)
    for await (const traceIds of traces(reader, span)) {
      const columns = await loadTraces(reader, span.projectId, traceIds, span.position, {
        maxTraceCalls: limits.maxTraceCalls,
      })
      const buckets = await bucketsOf(reader, span, traceIds, columns)
      eachOwnEntry(columns, reporting, (call, model, counters) => {
        if (buckets[call]! >= 0) gathered.add(buckets[call]!, columns.reported.models[model]!, counters)
      })
    }
    return gathered.buckets()
  }

/** The traces that have calls in the span, in portions that are worked on at once. */
async function* traces(reader: ClickHouseReader, span: Span): AsyncGenerator<readonly string[]> {
  const { sql, parameters } = inSpan(span)
  for (let after = '', isAll = false; !isAll;) {
    const found = await reader.query<{ trace: string }>(
      `SELECT DISTINCT assumeNotNull(trace_id) AS trace FROM calls FINAL
      WHERE ${sql} AND trace_id > {after:String} ORDER BY trace LIMIT {limit:UInt64}`,
      { ...parameters, after, limit: TRACES_AT_ONCE },
    )
    isAll = found.length < TRACES_AT_ONCE
    after = found.at(-1)?.trace ?? ''
    if (found.length > 0)
      yield* portions(
        await traceSizes(
          reader,
          span.projectId,
          found.map(({ trace }) => trace),
        ),
      )
  }
}

function* portions(sizes: Awaited<ReturnType<typeof traceSizes>>): Generator<readonly string[]> {
  let portion: string[] = []
  let rows = 0
  for (const size of sizes) {
    if (portion.length > 0 && rows + size.rows > ROWS_AT_ONCE) {
      yield portion
      portion = []
      rows = 0
    }
    portion.push(size.trace_id)
    rows += size.rows
  }
  if (portion.length > 0) yield portion
}

/** For each call of some traces its bucket's place, -1 for a call that is not meant. */
const bucketsOf = async (
  reader: ClickHouseReader,
  span: Span,
  traceIds: readonly string[],
  columns: TraceColumns,
): Promise<Int32Array> => {
  const { sql, parameters } = inSpan(span)
  const places = new Map(span.starts.map((start, place) => [start, place]))
  const buckets = new Int32Array(columns.size).fill(-1)
  const chunks = reader.stream(
    `SELECT id, xxHash32(id), ${BUCKET} FROM calls FINAL WHERE ${sql} AND trace_id IN {traces:Array(String)}`,
    { ...parameters, ...startsParameter(span), traces: traceIds },
  )
  for await (const { rows, columns: block } of nativeBlocks(chunks)) {
    const [ids, hashes, starts] = block as unknown as readonly [Strings, Numbers, Numbers]
    for (let row = 0; row < rows; row += 1) {
      const call = columns.find(ids.bytes, ids.starts[row]!, ids.ends[row]!, hashes.values[row]!)
      if (call >= 0) buckets[call] = places.get(starts.values[row]!) ?? -1
    }
  }
  return buckets
}

interface Used {
  calls: number
  readonly sums: readonly Sums[]
}

/** Sums by model and bucket. Every model has all buckets in the end, those without usage too. */
const gathering = ({ starts }: Span, wanted: readonly Wanted<UsageMetric>[], { requireFew }: Limits) => {
  const room = roomForValues()
  const byModel = new Map<string, Map<number, Used>>()
  const counters = wanted.map(({ metric }) => COUNTERS.indexOf(COUNTER[metric]))
  const none = (): Used => ({
    calls: 0,
    sums: wanted.map(({ percentiles }) => new Sums(percentiles.length > 0 ? room : undefined)),
  })

  return {
    add(bucket: number, model: string, used: Counters): void {
      let buckets = byModel.get(model)
      if (buckets === undefined) {
        byModel.set(model, (buckets = new Map<number, Used>()))
        requireFew(byModel.size)
      }
      let told = buckets.get(bucket)
      if (told === undefined) buckets.set(bucket, (told = none()))
      told.calls += 1
      told.sums.forEach((sums, place) => sums.add(used[counters[place]!]!))
    },

    *buckets(): Generator<UsageBucket> {
      const nothing = none()
      const models = [...byModel].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      for (const [place, start] of starts.entries())
        for (const [model, buckets] of models) {
          const { calls, sums } = buckets.get(place) ?? nothing
          yield {
            start,
            model,
            calls,
            figures: figures(wanted, (metric, figure) => sums[metric]!.told(figure)),
          }
        }
    },
  }
}
