import type { ClickHouseReader, SqlParameter } from '../../../kernel/ports/clickhouse.js'
import { compileSelection, readManyCalls, SETTINGS } from '../../calls/select.js'
import type { MergedRows } from '../../unmerged-rows.js'
import {
  figures,
  NOTHING,
  type Aggregation,
  type Figures,
  type RequestedMetric,
  type Span,
} from './metric.js'

export const CALL_METRICS = ['call_count', 'error_count', 'latency_ms'] as const
export type CallMetric = (typeof CALL_METRICS)[number]

export interface CallBucket {
  /** In seconds since 1970. */
  readonly start: number
  readonly calls: number
  readonly figures: Figures
}

const VALUES: Readonly<Record<CallMetric, string>> = {
  call_count: '1',
  error_count: 'failed',
  latency_ms: 'latency',
}

const AGGREGATED: Readonly<Record<Aggregation, string>> = {
  sum: 'sumOrNull',
  avg: 'avgOrNull',
  min: 'minOrNull',
  max: 'maxOrNull',
  count: 'count',
}

/** The start of a selected call's bucket, in seconds as a double. */
const BUCKET =
  'toFloat64(intDiv(roundDown(toUnixTimestamp64Micro(assumeNotNull(call_started_at)), {starts:Array(Int64)}), 1000000))'

const COLUMNS = `${BUCKET} AS bucket, call_exception IS NOT NULL AS failed, call_latency_ms AS latency,
  call_ended_before_start AS has_no_latency`

interface CallStats {
  readonly buckets: Iterable<CallBucket>
  /** The calls that ended before they started, which have no latency; null if no latency is requested. */
  readonly endedBeforeStart: number | null
}

/**
 * Exact counts of the calls started in each bucket and of those with an exception, and the latencies of ended calls.
 *
 * @throws UnknownField even if no metric is requested
 */
export const callStats =
  (reader: ClickHouseReader) =>
  async (span: Span, wanted: readonly RequestedMetric<CallMetric>[]): Promise<CallStats> => {
    const compiled = compileSelection(span, [])
    if (wanted.length === 0) return { buckets: [], endedBeforeStart: null }
    const levels: Record<string, SqlParameter> = {}
    const starts = span.starts.map((start) => BigInt(start) * 1_000_000n)
    const columns = wanted.flatMap(({ metric, aggregations, percentiles }, place) => [
      ...aggregations.map(
        (aggregation) => `${AGGREGATED[aggregation]}(${VALUES[metric]}) AS ${columnOf(place, aggregation)}`,
      ),
      ...percentiles.map((percentile, nth) => {
        const name = levelOf(place, nth)
        levels[name] = percentile / 100
        return `quantileExactInclusiveOrNull({${name}:Float64})(${VALUES[metric]}) AS ${name}`
      }),
    ])
    const read = (merged: MergedRows) =>
      reader.query<Row>(
        `SELECT ${['bucket', 'count() AS calls', 'countIf(has_no_latency) AS ended_before_start', ...columns].join(', ')} FROM (${compiled.selected(COLUMNS, { rows: merged })})
      GROUP BY bucket ${SETTINGS}`,
        { ...compiled.parameters, ...merged.parameters, ...levels, starts },
      )
    const rows = await readManyCalls(reader, compiled, read)
    const found = new Map(rows.map((row) => [row['bucket'], row]))
    return {
      buckets: bucketsFrom(span.starts, wanted, (start) => found.get(start)),
      endedBeforeStart: wanted.some(({ metric }) => metric === 'latency_ms')
        ? rows.reduce((sum, row) => sum + (row['ended_before_start'] ?? 0), 0)
        : null,
    }
  }

function* bucketsFrom(
  starts: readonly number[],
  wanted: readonly RequestedMetric<CallMetric>[],
  rowOf: (start: number) => Row | undefined,
): Generator<CallBucket> {
  for (const start of starts) {
    const row = rowOf(start)
    yield {
      start,
      calls: row?.['calls'] ?? 0,
      figures: figures(wanted, (place, figure) =>
        typeof figure === 'number'
          ? (row?.[levelOf(place, wanted[place]!.percentiles.indexOf(figure))] ?? null)
          : (row?.[columnOf(place, figure)] ?? NOTHING[figure]),
      ),
    }
  }
}

type Row = Readonly<Record<string, number | null>>

const columnOf = (place: number, aggregation: Aggregation): string => `${aggregation}_${place}`
const levelOf = (place: number, nth: number): string => `level_${place}_${nth}`
