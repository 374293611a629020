import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { SQL_TIME, timeRange } from '../clickhouse-values.js'
import type { OrderBy } from '../expression/order.js'
import { ALL_MERGED } from '../unmerged-rows.js'
import {
  AT_TIMES,
  compileSelection,
  DELETED_KEYS,
  KEY_FIRST,
  readManyCalls,
  SETTINGS,
  WHOLE_RANGE,
  type CallKey,
  type CallSelection,
  type CompiledSelection,
  type Range,
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
  async <Row>(columns: string, query: CallPageQuery): Promise<readonly Row[]> => {
    const { sortBy, limit, offset, after } = query
    const compiled = compileSelection(query, sortBy)
    const direction = sortBy[0]?.direction ?? 'asc'
    const range: Range = after === undefined ? WHOLE_RANGE : afterKey(direction, after)
    const skipped = offset ?? 0
    const readRange = (range: Range, skipped: number, rows = ALL_MERGED) =>
      reader.query<Row>(
        `${compiled.selected(columns, { range: range.conditions, rows })} ORDER BY ${compiled.order.join(', ')}
        ${limit === null ? '' : 'LIMIT {limit:UInt64}'} OFFSET {offset:UInt64} ${KEY_FIRST}, ${WITHOUT_READING_AHEAD}`,
        {
          ...compiled.parameters,
          ...range.parameters,
          ...rows.parameters,
          ...(limit === null ? {} : { limit }),
          offset: skipped,
        },
      )
    if (limit === null || compiled.isLocated || sortBy[0]?.field !== 'started_at')
      return readManyCalls(reader, compiled, (rows) => readRange(range, skipped, rows))
    if (skipped > size.maxOffset && sortBy.length === 1 && compiled.isDecidedByCandidates)
      return readRange(both(range, pageBehind(compiled, range, skipped)), 0)
    const wanted = limit + skipped
    let count = compiled.isDecidedByCandidates ? wanted : Math.max(wanted, size.firstCandidates)
    while (count <= size.maxCandidates) {
      const window = await candidateWindow(reader, compiled, range, direction, count)
      if (window.found === 0) return []
      const rows = await readRange(within(range, window), skipped)
      if (rows.length === limit || window.found < count) return rows
      count = Math.ceil(count * Math.min(8, Math.max(2, (1.5 * wanted) / (rows.length + 1))))
    }
    return readManyCalls(reader, compiled, (rows) => readRange(range, skipped, rows))
  }

const both = (a: Range, b: Range): Range => ({
  conditions: [...a.conditions, ...b.conditions],
  parameters: { ...a.parameters, ...b.parameters },
})

interface CandidateWindow {
  readonly found: number
  readonly from: string
  readonly to: string
  /** Their distinct start times, up to one more than the limit. */
  readonly times: readonly string[]
}

const MAX_TIMES = 20_000

/** Reads in the order of the key stop early. */
const WITHOUT_READING_AHEAD = 'read_in_order_use_buffering = 0'

/** The first candidates of a range. */
const candidateWindow = async (
  reader: ClickHouseReader,
  { candidates, parameters }: CompiledSelection,
  range: Range,
  direction: OrderBy['direction'],
  count: number,
): Promise<CandidateWindow> => {
  const [row] = await reader.query<CandidateWindow>(
    `SELECT count() AS found, ${timeRange('call_started_at')},
      groupUniqArray(${MAX_TIMES + 1})(call_started_at) AS times
    FROM (${candidates('call_started_at', range.conditions)}
      ORDER BY call_started_at ${direction.toUpperCase()} LIMIT {candidates:UInt64}) ${SETTINGS}, ${WITHOUT_READING_AHEAD}`,
    { ...parameters, ...range.parameters, candidates: count },
  )
  return row ?? { found: 0, from: '', to: '', times: [] }
}

/** Listed times keep calls between them from being read. */
const within = (range: Range, { from, to, times }: CandidateWindow): Range =>
  both(
    range,
    times.length > MAX_TIMES
      ? {
          conditions: [`started_at BETWEEN {window_from:${SQL_TIME}} AND {window_to:${SQL_TIME}}`],
          parameters: { window_from: from, window_to: to },
        }
      : { conditions: [AT_TIMES], parameters: { times } },
  )

/** The calls of a page whose limit is also given. Skips rows without merging them, which costs several times as much. */
const pageBehind = ({ candidates, order }: CompiledSelection, range: Range, skipped: number): Range => {
  const notDeleted = `(started_at, id) NOT IN ${DELETED_KEYS}`
  return {
    conditions: [
      `(started_at, id) IN (SELECT DISTINCT call_started_at, call_id
      FROM (${candidates('call_started_at, call_id', [...range.conditions, notDeleted])})
      ORDER BY ${order.join(', ')} LIMIT {limit:UInt64} OFFSET {skipped:UInt64})`,
    ],
    parameters: { skipped },
  }
}

/** After a call in the order of starts; calls that started at once are in the order of ids. */
const afterKey = (direction: OrderBy['direction'], { started_at, id }: CallKey): Range => {
  const than = direction === 'asc' ? '>' : '<'
  const time = `{after_time:${SQL_TIME}}`
  return {
    conditions: [`started_at ${than}= ${time} AND (started_at ${than} ${time} OR id > {after_id:String})`],
    parameters: { after_time: started_at, after_id: id },
  }
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

const ID_COLUMNS = 'call_id AS id, call_started_at AS started_at, call_bytes AS bytes'

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
  columns: string,
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
