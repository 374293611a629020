import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import { statementFields } from '../../calls/fields.js'
import { compileSelection, readManyCalls, SETTINGS, type CallSelection } from '../../calls/select.js'
import { fieldValue } from '../../expression/fields.js'
import { asText } from '../../expression/value.js'
import { joined, raw, select, sql, typed, type Sql } from '../../sql.js'
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

const COLUMNS_OF_FIGURES = sql`call_exception IS NOT NULL AS failed, call_latency_ms AS latency`

/** With the start of a call's bucket, in seconds as a double. `starts` are in microseconds. */
const columnsWithBucket = (starts: readonly bigint[]): Sql =>
  sql`toFloat64(intDiv(roundDown(toUnixTimestamp64Micro(assumeNotNull(call_started_at)), ${typed('Array(Int64)', starts)}), 1000000)) AS bucket,
    ${COLUMNS_OF_FIGURES}, call_ended_before_start AS has_no_latency`

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
    const columns = columnsWithBucket(span.starts.map((start) => BigInt(start) * 1_000_000n))
    const read = (merged: MergedRows) =>
      select<Row>(
        reader,
        sql`SELECT bucket, count() AS calls, countIf(has_no_latency) AS ended_before_start${aggregated(wanted)}
      FROM (${compiled.selected(columns, { rows: merged })})
      GROUP BY bucket ${SETTINGS}`,
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

/** The columns of the requested figures, each after a comma. */
const aggregated = (wanted: readonly RequestedMetric<CallMetric>[]): Sql =>
  joined(
    wanted.flatMap(({ metric, aggregations, percentiles }, place) => [
      ...aggregations.map((aggregation) =>
        raw(`, ${AGGREGATED[aggregation]}(${VALUES[metric]}) AS ${columnOf(place, aggregation)}`),
      ),
      ...percentiles.map((percentile, nth) => {
        const level = typed('Float64', percentile / 100)
        return sql`, quantileExactInclusiveOrNull(${level})(${raw(VALUES[metric])}) AS ${raw(levelOf(place, nth))}`
      }),
    ]),
    '',
  )

export interface CallGroup {
  /** The texts of the fields; null where the calls have no value. */
  readonly key: readonly (string | null)[]
  readonly calls: number
  readonly failed: number
  readonly figures: Figures
}

interface CallGroups {
  /** Those of the most calls. */
  readonly groups: readonly CallGroup[]
  /** Calls in other groups. */
  readonly others: number
}

/** Longer values are cut off, and then grouped. */
const KEY_CHARACTERS = 300

/**
 * The figures of the calls of a range by the values of some fields, also of calls without usage.
 *
 * @throws UnknownField
 */
export const callGroups = async (
  reader: ClickHouseReader,
  selection: CallSelection,
  names: readonly string[],
  wanted: readonly RequestedMetric<CallMetric>[],
  limit: number,
): Promise<CallGroups> => {
  const { fields, joins } = statementFields()
  const keys = names.map(
    (name, n) =>
      sql`leftUTF8(${asText(fieldValue(fields, name))}, ${raw(String(KEY_CHARACTERS))}) AS ${raw(`key_${n}`)}`,
  )
  const compiled = compileSelection(selection, [])
  const by = raw(names.map((_, n) => `key_${n}`).join(', '))
  const columns = joined([...keys, COLUMNS_OF_FIGURES])
  const read = (merged: MergedRows) =>
    select<Row & { readonly key: readonly (string | null)[] }>(
      reader,
      sql`SELECT array(${by}) AS key, toFloat64(count()) AS calls, toFloat64(countIf(failed)) AS failures,
        toFloat64(sum(count()) OVER ()) AS all_calls${aggregated(wanted)}
        FROM (${compiled.selected(columns, { rows: merged, joins: joins() })})
      GROUP BY ${by} ORDER BY calls DESC, ${by} LIMIT ${typed('UInt64', limit)} ${SETTINGS}`,
    )
  const rows = await readManyCalls(reader, compiled, read)
  const groups = rows.map((row) => ({
    key: row.key,
    calls: row['calls']!,
    failed: row['failures']!,
    figures: figuresIn(row, wanted),
  }))
  const all = rows[0]?.['all_calls'] ?? 0
  return { groups, others: all - groups.reduce((sum, { calls }) => sum + calls, 0) }
}

const figuresIn = (row: Row | undefined, wanted: readonly RequestedMetric<CallMetric>[]): Figures =>
  figures(wanted, (place, figure) =>
    typeof figure === 'number'
      ? (row?.[levelOf(place, wanted[place]!.percentiles.indexOf(figure))] ?? null)
      : (row?.[columnOf(place, figure)] ?? NOTHING[figure]),
  )

function* bucketsFrom(
  starts: readonly number[],
  wanted: readonly RequestedMetric<CallMetric>[],
  rowOf: (start: number) => Row | undefined,
): Generator<CallBucket> {
  for (const start of starts) {
    const row = rowOf(start)
    yield { start, calls: row?.['calls'] ?? 0, figures: figuresIn(row, wanted) }
  }
}

type Row = Readonly<Record<string, number | null>>

const columnOf = (place: number, aggregation: Aggregation): string => `${aggregation}_${place}`
const levelOf = (place: number, nth: number): string => `level_${place}_${nth}`
