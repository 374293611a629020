import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { instantFrom } from '../clickhouse-values.js'
import { raw, select, sql, typed } from '../sql.js'
import { callIds } from './pages.js'
import { compileSelection, readManyCalls, SETTINGS, type CallSelection } from './select.js'

/** The times between which calls started, in microseconds since 1970. */
export interface CallExtent {
  readonly first: number
  readonly last: number
}

const STARTED_US = raw('toUnixTimestamp64Micro(assumeNotNull(call_started_at))')

/** @throws UnknownField */
export const callExtent = async (reader: ClickHouseReader, selection: CallSelection): Promise<CallExtent> => {
  const compiled = compileSelection(selection, [])
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

/** The newest calls of a selection, with all that started when the last of them did. */
export const newestOf = async (
  reader: ClickHouseReader,
  selection: CallSelection,
  most: number,
): Promise<CallSelection> => {
  const sortBy = [{ field: 'started_at', direction: 'desc' }] as const
  const [last] = await callIds(reader)({ ...selection, sortBy, limit: 1, offset: most - 1 })
  return last === undefined
    ? selection
    : { ...selection, began: { from: instantFrom(last.started_at), to: END_OF_TIME } }
}
