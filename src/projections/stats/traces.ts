import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import { NO_FILTER } from '../calls/filter.js'
import { selection, SETTINGS } from '../calls/select.js'
import { idHash } from '../usage/id-hash.js'
import { traceSizes } from '../usage/load.js'
import { nativeBlocks, type Numbers, type Strings } from '../usage/native.js'
import type { TraceColumns } from '../usage/trace-columns.js'
import { BUCKET, startsParameter, type Span } from './span.js'

const TRACES_AT_ONCE = 5000
const ROWS_AT_ONCE = 250_000

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
    if (found.length > 0) yield* portions(await traceSizes(reader, span.projectId, traceIds))
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

/** For each call of some traces of the span its bucket's place, -1 for a call that is not meant. */
export const bucketsOf = async (
  reader: ClickHouseReader,
  span: Span,
  traceIds: readonly string[],
  columns: TraceColumns,
): Promise<Int32Array> => {
  const filter = { ...(span.filter ?? NO_FILTER), trace_ids: traceIds }
  const { sql, parameters } = selection(`call_id, ${idHash('call_id')}, ${BUCKET}`, { ...span, filter })
  const places = new Map(span.starts.map((start, place) => [start, place]))
  const buckets = new Int32Array(columns.size).fill(-1)
  const chunks = reader.stream(`${sql} ${SETTINGS}`, { ...parameters, ...startsParameter(span) })
  for await (const { rows, columns: block } of nativeBlocks(chunks)) {
    const [ids, hashes, starts] = block as unknown as readonly [Strings, Numbers, Numbers]
    for (let row = 0; row < rows; row += 1) {
      const call = columns.find(ids.bytes, ids.starts[row]!, ids.ends[row]!, hashes.values[row]!)
      if (call >= 0) buckets[call] = places.get(starts.values[row]!) ?? -1
    }
  }
  return buckets
}
