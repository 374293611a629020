import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { SQL_TIME, timeRange } from '../clickhouse-values.js'
import type { OrderBy } from '../expression/order.js'
import { limitSql } from '../expression/page.js'
import { raw, select, sql, typed, type Sql } from '../sql.js'
import { ALL_MERGED } from '../unmerged-rows.js'
import {
  atTimes,
  compileSelection,
  KEY_FIRST,
  NOT_DELETED,
  readManyCalls,
  SETTINGS,
  type CallKey,
  type CallSelection,
  type CompiledSelection,
} from './select.js'

export interface CallPageQuery extends CallSelection {
  readonly sortBy: readonly OrderBy[]
  readonly limit: number | null
  readonly offset: number | null
  /** Only calls after this one. Only with an order by start. */
  readonly after?: CallKey | undefined
}

export const WINDOW = {
  /** Fewer candidates cost as much, unless they are exactly the page. */
  firstCandidates: 4000,
  /** From here on the whole range is read instead. */
  maxCandidates: 1_000_000,
  /** Calls behind larger offsets are found before rows are merged. */
  maxOffset: 100,
}

/**
 * Columns of a page of calls. In the order of starts it reads a window from the start of the range that widens until the
 * page is full.
 *
 * @throws UnknownField
 */
const callPage =
  (reader: ClickHouseReader, size: typeof WINDOW) =>
  async <Row>(columns: Sql, query: CallPageQuery): Promise<readonly Row[]> => {
    const { sortBy, limit, offset, after } = query
    const compiled = compileSelection(query, sortBy)
    const direction = sortBy[0]?.direction ?? 'asc'
    const range = after === undefined ? [] : [afterKey(direction, after)]
    const skipped = offset ?? 0
    const readRange = (range: readonly Sql[], skipped: number, rows = ALL_MERGED) =>
      select<Row>(
        reader,
        sql`${compiled.selected(columns, { range, rows })} ORDER BY ${compiled.order}
        ${limitSql(limit, skipped)} ${KEY_FIRST}, ${WITHOUT_READING_AHEAD}`,
      )
    if (limit === null || compiled.isLocated || sortBy[0]?.field !== 'started_at')
      return readManyCalls(reader, compiled, (rows) => readRange(range, skipped, rows))
    if (skipped > size.maxOffset && sortBy.length === 1 && compiled.isDecidedByCandidates)
      return readRange([...range, pageBehind(compiled, range, limit, skipped)], 0)
    const wanted = limit + skipped
    let count = compiled.isDecidedByCandidates ? wanted : Math.max(wanted, size.firstCandidates)
    while (count <= size.maxCandidates) {
      const findWindow = () => candidateWindow(reader, compiled, range, direction, count)
      const known = count > MAX_TIMES ? await findWindow() : undefined
      const times = known === undefined ? firstTimes(compiled, range, direction, count) : within(known)
      const rows = known?.found === 0 ? [] : await readRange([...range, times], skipped)
      if (rows.length === limit || (known ?? (await findWindow())).found < count) return rows
      count = Math.ceil(count * Math.min(8, Math.max(2, (1.5 * wanted) / (rows.length + 1))))
    }
    return readManyCalls(reader, compiled, (rows) => readRange(range, skipped, rows))
  }

interface CandidateWindow {
  readonly found: number
  readonly from: string
  readonly to: string
  /** Their distinct start times, up to one more than the limit. */
  readonly times: readonly string[]
}

const MAX_TIMES = 20_000

/** Reads in the order of the key stop early. */
export const WITHOUT_READING_AHEAD = sql`read_in_order_use_buffering = 0`

/** The first candidates of a range. */
const candidateWindow = async (
  reader: ClickHouseReader,
  { candidates }: CompiledSelection,
  range: readonly Sql[],
  direction: OrderBy['direction'],
  count: number,
): Promise<CandidateWindow> => {
  const [row] = await select<CandidateWindow>(
    reader,
    sql`SELECT count() AS found, ${raw(timeRange('call_started_at'))},
      groupUniqArray(${raw(String(MAX_TIMES + 1))})(call_started_at) AS times
    FROM (${candidates(sql`call_started_at`, range)}
      ORDER BY call_started_at ${raw(direction.toUpperCase())} LIMIT ${typed('UInt64', count)}) ${SETTINGS}, ${WITHOUT_READING_AHEAD}`,
  )
  return row ?? { found: 0, from: '', to: '', times: [] }
}

/** Condition on the start times of the first candidates of a range, at most {@link MAX_TIMES}. */
const firstTimes = (
  { candidates }: CompiledSelection,
  range: readonly Sql[],
  direction: OrderBy['direction'],
  count: number,
): Sql => sql`started_at IN (SELECT call_started_at FROM (${candidates(sql`call_started_at`, range)})
    ORDER BY call_started_at ${raw(direction.toUpperCase())} LIMIT ${typed('UInt64', count)})`

/** Listed times keep calls between them from being read. */
const within = ({ from, to, times }: CandidateWindow): Sql =>
  times.length > MAX_TIMES
    ? sql`started_at BETWEEN ${typed(SQL_TIME, from)} AND ${typed(SQL_TIME, to)}`
    : atTimes(times)

/** The calls of a page. Skips rows without merging them, which costs several times as much. */
const pageBehind = (
  { candidates, order }: CompiledSelection,
  range: readonly Sql[],
  limit: number,
  skipped: number,
): Sql =>
  sql`(started_at, id) IN (SELECT DISTINCT call_started_at, call_id
      FROM (${candidates(sql`call_started_at, call_id`, [...range, NOT_DELETED])})
      ORDER BY ${order} ${limitSql(limit, skipped)})`

/** After a call in the order of starts; calls that started at once are in the order of ids. */
const afterKey = (direction: OrderBy['direction'], { started_at, id }: CallKey): Sql => {
  const than = raw(direction === 'asc' ? '>' : '<')
  const time = typed(SQL_TIME, started_at)
  return sql`started_at ${than}= ${time} AND (started_at ${than} ${time} OR id > ${id})`
}

export interface CallId extends CallKey {
  /** The size of its payload, so that pages can be cut before they are read. */
  readonly bytes: number
}

/** @throws UnknownField */
export const callIds =
  (reader: ClickHouseReader, size = WINDOW) =>
  (query: CallPageQuery): Promise<readonly CallId[]> =>
    callPage(reader, size)<CallId>(ID_COLUMNS, query)

const ID_COLUMNS = sql`call_id AS id, call_started_at AS started_at, call_bytes AS bytes`

const ROWS_AT_ONCE = 20_000
/** The largest part of a page, in multiples of the first. */
const LARGEST_PART = 8

/**
 * Columns of a page of calls, read in parts of bounded memory. The rows have the key if the order is by start. State as of a
 * position does not change, so all parts are of one moment. In other orders each part sorts the whole selection, so parts
 * double up to a limit.
 *
 * @throws UnknownField
 */
export async function* callParts<Row extends CallKey>(
  reader: ClickHouseReader,
  columns: Sql,
  query: Omit<CallPageQuery, 'after'>,
  rowsAtOnce = ROWS_AT_ONCE,
): AsyncGenerator<readonly Row[]> {
  const isByStart = query.sortBy.length === 1 && query.sortBy[0]?.field === 'started_at'
  let left = query.limit ?? Infinity
  let size = rowsAtOnce
  let offset = query.offset ?? 0
  let after: CallKey | undefined
  while (left > 0) {
    const limit = Math.min(left, size)
    const rows = await callPage(reader, WINDOW)<Row>(columns, { ...query, limit, offset, after })
    if (rows.length > 0) yield rows
    if (rows.length < limit) return
    left -= limit
    if (isByStart) {
      after = rows.at(-1)
      offset = 0
    } else {
      offset += limit
      size = Math.min(2 * size, LARGEST_PART * rowsAtOnce)
    }
  }
}

/** @throws UnknownField */
export const callIdPages = (
  reader: ClickHouseReader,
  query: Omit<CallPageQuery, 'after'>,
  idsAtOnce = ROWS_AT_ONCE,
): AsyncGenerator<readonly CallId[]> => callParts<CallId>(reader, ID_COLUMNS, query, idsAtOnce)
