import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import { NO_FILTER } from '../calls/filter.js'
import { selection, SETTINGS } from '../calls/select.js'
import { nativeBlocks, textAt, type Numbers, type Strings } from '../usage/native.js'
import { batchesOfTraces } from '../usage/facts.js'
import type { TraceCalls } from '../usage/trace.js'
import { BUCKET, startsParameter, type Span } from './span.js'

const TRACES_AT_ONCE = 5000

/**
 * The traces that have calls in the span, in portions that are worked on at once.
 *
 * @throws UnknownField
 */
export async function* tracesIn(reader: ClickHouseReader, span: Span): AsyncGenerator<readonly string[]> {
  const { sql, parameters } = selection('assumeNotNull(call_trace_id) AS trace', span)
  for (let after = '', isAll = false; !isAll;) {
    const found = await reader.query<{ trace: string }>(
      `SELECT DISTINCT trace FROM (${sql}) WHERE trace > {after:String} ORDER BY trace LIMIT {limit:UInt64} ${SETTINGS}`,
      { ...parameters, after, limit: TRACES_AT_ONCE },
    )
    isAll = found.length < TRACES_AT_ONCE
    after = found.at(-1)?.trace ?? ''
    const traceIds = found.map(({ trace }) => trace)
    yield* batchesOfTraces(reader, span.projectId, traceIds)
  }
}

/** For each call of some traces of the span its bucket's place, -1 for a call that is not meant. */
export const bucketsOf = async (
  reader: ClickHouseReader,
  span: Span,
  traceIds: readonly string[],
  { ids, indexOf }: TraceCalls,
): Promise<Int32Array> => {
  const filter = { ...(span.filter ?? NO_FILTER), trace_ids: traceIds }
  const { sql, parameters } = selection(`call_id, ${BUCKET}`, { ...span, filter })
  const places = new Map(span.starts.map((start, place) => [start, place]))
  const buckets = new Int32Array(ids.length).fill(-1)
  const chunks = reader.stream(`${sql} ${SETTINGS}`, { ...parameters, ...startsParameter(span) })
  for await (const { rows, columns } of nativeBlocks(chunks)) {
    const [callIds, starts] = columns as unknown as readonly [Strings, Numbers]
    for (let row = 0; row < rows; row += 1) {
      const call = indexOf.get(textAt(callIds, row))
      if (call !== undefined) buckets[call] = places.get(starts.values[row]!) ?? -1
    }
  }
  return buckets
}
