import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import { timeRange } from '../clickhouse-values.js'
import type { OrderBy } from '../expression/order.js'
import { ALL_MERGED } from '../unmerged-rows.js'
import { countCandidates } from './count.js'
import {
  AT_TIMES,
  compileSelection,
  KEY_FIRST,
  readManyCalls,
  SETTINGS,
  TIME,
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
  /** Larger offsets are counted first. */
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
    const readRange = (range: Range, skipped: number, rows = ALL_MERGED) =>
      reader.query<Row>(
        `${compiled.selected(columns, { range: range.conditions, rows })} ORDER BY ${compiled.order.join(', ')}
        ${limit === null ? '' : 'LIMIT {limit:UInt64}'} OFFSET {offset:UInt64} ${KEY_FIRST}`,
        {
          ...compiled.parameters,
          ...range.parameters,
          ...rows.parameters,
          ...(limit === null ? {} : { limit }),
          offset: skipped,
        },
      )
    const direction = sortBy[0]?.direction ?? 'asc'
    let range: Range = after === undefined ? WHOLE_RANGE : afterKey(direction, after)
    let skipped = offset ?? 0
    if (limit === null || compiled.isLocated || sortBy[0]?.field !== 'started_at')
      return readManyCalls(reader, compiled, (rows) => readRange(range, skipped, rows))
    if (skipped > size.maxOffset && after === undefined && compiled.isDecidedByCandidates) {
      const rest = await skipTo(reader, compiled, direction, skipped)
      if (rest === undefined) return []
      ;({ range, skipped } = rest)
    }
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

/** The first candidates of a range. Reads rows in the order of the key, and without reading ahead, so it stops early. */
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
      ORDER BY call_started_at ${direction.toUpperCase()} LIMIT {candidates:UInt64}) ${SETTINGS}, read_in_order_use_buffering = 0`,
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
          conditions: [`started_at BETWEEN {window_from:${TIME}} AND {window_to:${TIME}}`],
          parameters: { window_from: from, window_to: to },
        }
      : { conditions: [AT_TIMES], parameters: { times } },
  )

/**
 * The part of the order behind most of an offset, and the rest of the offset; undefined if there are fewer calls. Counting
 * starts up to a time is much cheaper than merging and sorting their rows.
 */
const skipTo = async (
  reader: ClickHouseReader,
  compiled: CompiledSelection,
  direction: OrderBy['direction'],
  offset: number,
): Promise<{ readonly range: Range; readonly skipped: number } | undefined> => {
  const window = await candidateWindow(reader, compiled, WHOLE_RANGE, direction, offset)
  if (window.found < offset) return undefined
  const parameters = { reached: direction === 'asc' ? window.to : window.from }
  const before: Range = {
    conditions: [`started_at ${direction === 'asc' ? '<' : '>'} {reached:${TIME}}`],
    parameters,
  }
  const conditions = [`started_at ${direction === 'asc' ? '>=' : '<='} {reached:${TIME}}`]
  return {
    range: { conditions, parameters },
    skipped: offset - (await countCandidates(reader, compiled, before)),
  }
}

/** After a call in the order of starts; calls that started at once are in the order of ids. */
const afterKey = (direction: OrderBy['direction'], { started_at, id }: CallKey): Range => {
  const than = direction === 'asc' ? '>' : '<'
  const time = `{after_time:${TIME}}`
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
