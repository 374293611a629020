import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { microseconds, type Instant } from '../../kernel/codec/instant.js'
import { instantFrom, timeRange } from '../clickhouse-values.js'
import { raw, select, sql, typed } from '../sql.js'
import { sourceOf } from './fields.js'
import { conjunctsOf, isDecidedBy } from './locate.js'
import { callIds, WITHOUT_READING_AHEAD } from './pages.js'
import { compileSelection, readManyCalls, SETTINGS, type CallSelection } from './select.js'

/** The times between which calls started, in microseconds since 1970. */
export interface CallExtent {
  readonly first: number
  readonly last: number
}

const STARTED_US = raw('toUnixTimestamp64Micro(assumeNotNull(call_started_at))')

/**
 * Where candidates decide, the first and the last call are found without reading the others.
 *
 * @throws UnknownField
 */
export const callExtent = async (reader: ClickHouseReader, selection: CallSelection): Promise<CallExtent> => {
  const compiled = compileSelection(selection, [])
  if (compiled.isDecidedByCandidates) {
    const startOf = async (direction: 'asc' | 'desc') => {
      const sortBy = [{ field: 'started_at', direction }] as const
      const [call] = await callIds(reader)({ ...selection, sortBy, limit: 1, offset: 0 })
      return call === undefined ? 0 : Number(microseconds(instantFrom(call.started_at)))
    }
    const [first, last] = await Promise.all([startOf('asc'), startOf('desc')])
    return { first, last }
  }
  const [row] = await readManyCalls(reader, compiled, (rows) =>
    select<CallExtent>(
      reader,
      sql`SELECT toFloat64(min(started)) AS first, toFloat64(max(started)) AS last
      FROM (${compiled.selected(sql`${STARTED_US} AS started`, { rows })}) ${SETTINGS}`,
    ),
  )
  return row!
}

export interface Buckets {
  /** In microseconds since 1970, and microseconds. */
  readonly from: number
  readonly step: number
  readonly count: number
}

/** How many calls are selected, and by status how many of them started in each bucket. */
export interface CallCounts {
  readonly calls: number
  readonly byStatus: ReadonlyMap<string, readonly number[]>
}

/**
 * The number of calls that started in each bucket, by status.
 *
 * @throws UnknownField
 */
export const callsByStatus = async (
  reader: ClickHouseReader,
  selection: CallSelection,
  { from, step, count }: Buckets,
): Promise<CallCounts> => {
  const compiled = compileSelection(selection, [])
  const bucket = sql`intDiv(${STARTED_US} - ${typed('Int64', BigInt(from))}, ${typed('Int64', BigInt(step))}) AS bucket`
  const rows = await readManyCalls(reader, compiled, (merged) =>
    select<{ bucket: number; status: string; calls: number }>(
      reader,
      sql`SELECT toFloat64(bucket) AS bucket, status, toFloat64(count()) AS calls
      FROM (${compiled.selected(sql`${bucket}, call_status AS status`, { rows: merged })})
      GROUP BY bucket, status ${SETTINGS}`,
    ),
  )
  const byStatus = new Map<string, number[]>()
  for (const { bucket: at, status, calls } of rows) {
    const counts = byStatus.get(status) ?? Array<number>(count).fill(0)
    if (at >= 0 && at < count) counts[at] = calls
    byStatus.set(status, counts)
  }
  return { calls: rows.reduce((sum, { calls }) => sum + calls, 0), byStatus }
}

const END_OF_TIME = instantFrom('2299-12-31 23:59:59.999999')

/**
 * The newest calls of a selection, with all that started when the last of them did, as far as they are among the newest
 * `searched` calls of the project in the selected range. Without that bound, a list of few calls of a large project would read
 * the payload of all its granules.
 *
 * @throws UnknownField
 */
export const newestOf = async (
  reader: ClickHouseReader,
  selection: CallSelection,
  { most, searched }: { readonly most: number; readonly searched: number },
): Promise<CallSelection> => {
  const from = await startOfNewest(reader, selection, searched)
  const within = { ...selection, began: { from, to: END_OF_TIME } }
  const sortBy = [{ field: 'started_at', direction: 'desc' }] as const
  const [last] = await callIds(reader)({ ...within, sortBy, limit: 1, offset: most - 1 })
  return last === undefined
    ? within
    : { ...selection, began: { from: instantFrom(last.started_at), to: END_OF_TIME } }
}

/** When the first of the newest calls started that meet the conditions on the key. Rows are not merged. */
const startOfNewest = async (
  reader: ClickHouseReader,
  selection: CallSelection,
  count: number,
): Promise<Instant> => {
  const { operation } = selection
  const $and =
    operation === null ? [] : conjunctsOf(operation).filter((one) => isDecidedBy(one, 'key', sourceOf))
  const ofKey = { ...selection, filter: null, operation: $and.length === 0 ? null : { $and } }
  const newest = compileSelection(ofKey, []).candidates(sql`call_started_at`)
  const [row] = await select<{ from: string }>(
    reader,
    sql`SELECT ${raw(timeRange('call_started_at'))}
    FROM (${newest} ORDER BY call_started_at DESC LIMIT ${typed('UInt64', count)}) ${SETTINGS}, ${WITHOUT_READING_AHEAD}`,
  )
  return instantFrom(row!.from)
}
