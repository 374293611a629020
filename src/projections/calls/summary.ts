import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Instant } from '../../kernel/codec/instant.js'
import { instantFrom, timeRange } from '../clickhouse-values.js'
import { joined, raw, select, sql, typed } from '../sql.js'
import { sourceOf } from './fields.js'
import { conjunctsOf, isDecidedBy } from './locate.js'
import { callIds, WITHOUT_READING_AHEAD } from './pages.js'
import { compileSelection, NOT_DELETED, readManyCalls, SETTINGS, type CallSelection } from './select.js'
import { countedFields, SHOWN_VALUE, type CommonValues } from './values.js'

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
    const starts = compiled.candidates(sql`call_started_at`, [NOT_DELETED])
    const startOf = async (direction: 'ASC' | 'DESC') => {
      const [row] = await select<{ started: number }>(
        reader,
        sql`SELECT toFloat64(${STARTED_US}) AS started FROM (${starts})
        ORDER BY call_started_at ${raw(direction)} LIMIT 1 ${SETTINGS}, ${WITHOUT_READING_AHEAD}`,
      )
      return row?.started ?? 0
    }
    const [first, last] = await Promise.all([startOf('ASC'), startOf('DESC')])
    return { first, last }
  }
  return readManyCalls(reader, compiled, async (rows) =>
    extentOf(
      await select(
        reader,
        sql`${EXTENT} FROM (${compiled.selected(sql`${STARTED_US} AS started`, { rows })}) ${SETTINGS}`,
      ),
    ),
  )
}

const EXTENT = sql`SELECT toFloat64(min(started)) AS first, toFloat64(max(started)) AS last`
const extentOf = ([row]: readonly CallExtent[]): CallExtent => row!

export interface Buckets {
  /** In microseconds since 1970, and microseconds. */
  readonly from: number
  readonly step: number
  readonly count: number
}

interface CallCounts extends CommonValues {
  readonly ofStatus: ReadonlyMap<string, StatusCounts>
}

interface StatusCounts {
  readonly calls: number
  /** How many of them started in each bucket. */
  readonly buckets: readonly number[]
}

/** There are fewer statuses. */
const MAX_STATUSES = 10
const STATUS_PLACE = -1

/**
 * The number of calls by status, over all time and in each bucket of their start, and the values of each field that most of
 * them have. One read for all: each would read the same rows.
 *
 * @throws UnknownField
 */
export const callCounts = async (
  reader: ClickHouseReader,
  selection: CallSelection,
  { from, step, count }: Buckets,
  { names, limit }: { readonly names: readonly string[]; readonly limit: number },
): Promise<CallCounts> => {
  const compiled = compileSelection(selection, [])
  const bucket = sql`intDiv(${STARTED_US} - ${typed('Int64', BigInt(from))}, ${typed('Int64', BigInt(step))}) AS bucket`
  const { columns, joins, keys, places, sets } = countedFields(names)
  const status = sql`${bucket}, toNullable(toString(call_status)) AS status`
  const rows = await readManyCalls(reader, compiled, (merged) =>
    select<{ place: number; bucket: number; value: string; calls: number }>(
      reader,
      sql`SELECT toFloat64(at) AS place, toFloat64(bucket) AS bucket, ${SHOWN_VALUE}, toFloat64(sum(counted)) AS calls
      FROM (SELECT multiIf(${joined([...places, raw(`grouping(status) = 0, ${STATUS_PLACE}, NULL`)])}) AS at, bucket,
          coalesce(${joined([...keys, raw('status')])}) AS whole, count() AS counted
        FROM (${compiled.selected(joined([status, ...columns]), { rows: merged, joins })})
        GROUP BY GROUPING SETS (${joined([raw('(bucket, status)'), ...sets])}))
      WHERE whole IS NOT NULL
      GROUP BY place, bucket, value ORDER BY place, calls DESC, value
      LIMIT ${typed('UInt64', Math.max(limit, MAX_STATUSES))} BY place, bucket ${SETTINGS}`,
    ),
  )
  const ofStatus = new Map<string, { calls: number; buckets: number[] }>()
  for (const { place, bucket: at, value, calls } of rows) {
    if (place !== STATUS_PLACE) continue
    const counts = ofStatus.get(value) ?? { calls: 0, buckets: Array<number>(count).fill(0) }
    counts.calls += calls
    if (at >= 0 && at < count) counts.buckets[at] = calls
    ofStatus.set(value, counts)
  }
  return {
    calls: [...ofStatus.values()].reduce((sum, { calls }) => sum + calls, 0),
    ofStatus,
    values: names.map((_, index) =>
      rows.flatMap(({ place, value, calls }) => (place === index ? [{ value, calls }] : [])).slice(0, limit),
    ),
  }
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
  const last = await newestBehind(reader, within, most - 1)
  return last === undefined
    ? within
    : { ...selection, began: { from: instantFrom(last.started_at), to: END_OF_TIME } }
}

/** Where candidates decide, no rows are merged. */
const newestBehind = async (reader: ClickHouseReader, selection: CallSelection, offset: number) => {
  const { candidates, isDecidedByCandidates } = compileSelection(selection, [])
  if (!isDecidedByCandidates) {
    const sortBy = [{ field: 'started_at', direction: 'desc' }] as const
    const [call] = await callIds(reader)({ ...selection, sortBy, limit: 1, offset })
    return call
  }
  const [call] = await select<{ started_at: string }>(
    reader,
    sql`SELECT call_started_at AS started_at
    FROM (SELECT DISTINCT call_started_at, call_id FROM (${candidates(sql`call_started_at, call_id`, [NOT_DELETED])}))
    ORDER BY call_started_at DESC LIMIT 1 OFFSET ${typed('UInt64', offset)} ${SETTINGS}`,
  )
  return call
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
