import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { OrderBy } from '../expression/order.js'
import { compileSelection, SETTINGS, type CallSelection, type Parameters } from './select.js'

/** The place of a call in the order of starts. */
export interface CallKey {
  /** As ClickHouse prints it. */
  readonly started_at: string
  readonly id: string
}

export interface CallPageQuery extends CallSelection {
  readonly sortBy: readonly OrderBy[]
  readonly limit: number | null
  readonly offset: number | null
  /** Only calls after this one. Only with an order by start. */
  readonly after?: CallKey | undefined
}

/** Fewer candidates than this cost as much, unless they are exactly the page. */
const FIRST_CANDIDATES = 4000
const GROWTH = 8
/** From here on the whole range is read instead. */
const MAX_CANDIDATES = 1_000_000
/** Deleted calls are candidates too. */
const SPARE_CANDIDATES = 50

/**
 * Columns of a page of calls. In the order of starts it reads a window from the start of the range that widens until the
 * page is full.
 *
 * @throws UnknownField
 */
const callPage =
  (reader: ClickHouseReader) =>
  async <Row>(columns: string, query: CallPageQuery): Promise<readonly Row[]> => {
    const { sortBy, limit, offset, after } = query
    const compiled = compileSelection(query, sortBy)
    const direction = sortBy[0]?.direction ?? 'asc'
    const cursor = after === undefined ? [] : [afterKey(direction)]
    const parameters = {
      ...compiled.parameters,
      ...(after && { after_time: after.started_at, after_id: after.id }),
      ...(limit === null ? {} : { limit }),
      offset: offset ?? 0,
    }
    const read = (range: readonly string[], more: Parameters = {}) =>
      reader.query<Row>(
        `${compiled.selected(columns, [...cursor, ...range])} ORDER BY ${compiled.order.join(', ')}
        ${limit === null ? '' : 'LIMIT {limit:UInt64}'} OFFSET {offset:UInt64} ${SETTINGS}`,
        { ...parameters, ...more },
      )

    if (limit === null || compiled.isById || sortBy[0]?.field !== 'started_at') return read([])
    const wanted = limit + (offset ?? 0)
    let candidates = compiled.isDecidedByStart
      ? wanted + SPARE_CANDIDATES
      : Math.max(wanted, FIRST_CANDIDATES)
    for (; candidates <= MAX_CANDIDATES; candidates *= GROWTH) {
      const window = await candidateWindow(
        reader,
        compiled.candidates(cursor),
        direction,
        candidates,
        parameters,
      )
      if (window.found === 0) return []
      const rows = await read([WINDOW], { window_from: window.from, window_to: window.to })
      if (rows.length === limit || window.found < candidates) return rows
    }
    return read([])
  }

const WINDOW = "started_at BETWEEN {window_from:DateTime64(6, 'UTC')} AND {window_to:DateTime64(6, 'UTC')}"

interface CandidateWindow {
  readonly found: number
  readonly from: string
  readonly to: string
}

/** The range of the first candidates. Reads rows in the order of the key, so it stops early. */
const candidateWindow = async (
  reader: ClickHouseReader,
  candidates: string,
  direction: OrderBy['direction'],
  count: number,
  parameters: Parameters,
): Promise<CandidateWindow> => {
  const [row] = await reader.query<CandidateWindow>(
    `SELECT count() AS found, min(call_started_at) AS from, max(call_started_at) AS to FROM (
      ${candidates} ORDER BY call_started_at ${direction.toUpperCase()} LIMIT {candidates:UInt64}) ${SETTINGS}`,
    { ...parameters, candidates: count },
  )
  return row ?? { found: 0, from: '', to: '' }
}

/** After a call in the order of starts; calls that started at once are in the order of ids. */
const afterKey = (direction: OrderBy['direction']): string => {
  const than = direction === 'asc' ? '>' : '<'
  const time = "{after_time:DateTime64(6, 'UTC')}"
  return `started_at ${than}= ${time} AND (started_at ${than} ${time} OR id > {after_id:String})`
}

export interface CallId extends CallKey {
  /** The size of its payload, so that pages can be cut before they are read. */
  readonly bytes: number
}

/** @throws UnknownField */
export const callIds =
  (reader: ClickHouseReader) =>
  (query: CallPageQuery): Promise<readonly CallId[]> =>
    callPage(reader)<CallId>('call_id AS id, call_started_at AS started_at, call_bytes AS bytes', query)

const IDS_AT_ONCE = 20_000

/**
 * The same ids in pages of bounded memory. State as of a position does not change, so all pages are of one moment.
 *
 * @throws UnknownField
 */
export async function* callIdPages(
  reader: ClickHouseReader,
  query: Omit<CallPageQuery, 'after'>,
  idsAtOnce = IDS_AT_ONCE,
): AsyncGenerator<readonly CallId[]> {
  const isByStart = query.sortBy.length === 1 && query.sortBy[0]?.field === 'started_at'
  let left = query.limit ?? Infinity
  let offset = query.offset ?? 0
  let after: CallKey | undefined
  while (left > 0) {
    const limit = Math.min(left, idsAtOnce)
    const ids = await callIds(reader)({ ...query, limit, offset, after })
    if (ids.length > 0) yield ids
    if (ids.length < limit) return
    left -= limit
    if (isByStart) after = ids.at(-1)
    offset = isByStart ? 0 : offset + limit
  }
}
