import type { Instant } from '../../domain/codec/instant.js'
import type { ClickHouseReader, SqlParameter } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { Operation } from '../../domain/query/expression.js'
import { dateTime64, instantFrom } from '../clickhouse-values.js'
import { compileCondition } from '../expression/compile.js'
import { orderTerms, type OrderBy } from '../expression/order.js'
import { newParameters } from '../expression/parameters.js'
import { JSON_SETTINGS } from '../expression/readable-json.js'
import {
  BYTES,
  CALL_COLUMNS,
  callFields,
  columnAsOf,
  PAYLOAD,
  type CallField,
  type PayloadColumn,
  type StoredCall,
} from './columns.js'
import { columnsIn, isStartField, statementFields } from './fields.js'
import { filterConditions, NO_FILTER, type CallsFilter } from './filter.js'
import { conjunctsOf, locate, readsOnly } from './locate.js'

/** Selects calls of a project as of a position. */
export interface CallSelection {
  readonly projectId: string
  readonly filter: CallsFilter | null
  readonly operation: Operation | null
  readonly position: Position
  /** Only calls that started at `from` or later, and before `to`. */
  readonly began?: { readonly from: Instant; readonly to: Instant }
}

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

type Parameters = Readonly<Record<string, SqlParameter>>

export const SETTINGS = `SETTINGS ${JSON_SETTINGS}`

const VISIBLE = [
  'started_position <= {position:UInt64}',
  '(deleted_position IS NULL OR deleted_position > {position:UInt64})',
]

const allOf = (conditions: readonly string[]): string => conditions.map((one) => `(${one})`).join(' AND ')
const whereAll = (conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : `WHERE ${allOf(conditions)}`

interface CompiledSelection {
  /** Columns of the selected calls in a range of the key, as `SELECT`, `FROM` and `WHERE`. */
  readonly selected: (columns: string, range?: readonly string[]) => string
  /** The start times of all calls whose start meets the conditions on it; a superset. Rows are not merged. */
  readonly candidates: (range?: readonly string[]) => string
  /** Whether the start alone decides, except for deletion. */
  readonly isDecidedByStart: boolean
  readonly isById: boolean
  readonly order: readonly string[]
  readonly parameters: Parameters
}

/** @throws UnknownField */
const compileSelection = (
  { projectId, filter, operation, position, began }: CallSelection,
  sortBy: readonly OrderBy[],
): CompiledSelection => {
  const { fields, joins } = statementFields()
  const conjuncts = operation === null ? [] : conjunctsOf(operation)
  const isOfStart = conjuncts.map((one) => readsOnly(one, isStartField))
  const compiled = (ofStart: boolean, prefix: string) => {
    const $and = conjuncts.filter((_, index) => isOfStart[index] === ofStart)
    return $and.length === 0
      ? { sql: [], parameters: {} }
      : wrapped(compileCondition({ $and }, fields, prefix))
  }
  const ofStart = compiled(true, 's')
  const ofRest = compiled(false, 'x')
  const ordering = newParameters('o')
  const order = orderTerms(sortBy, fields, ordering)
  if (!sortBy.some(({ field }) => field === 'id')) order.push('call_id ASC')
  const filtered = filterConditions(projectId, filter)
  const located = locate(filter, conjuncts)
  const range = began === undefined ? [] : [BEGAN]
  const common = ['project_id = {project:String}', ...located.conditions, ...range, ...filtered.ofStart]

  return {
    selected: (columns, keyRange = []) => {
      const where = whereAll([...ofStart.sql, ...ofRest.sql])
      const used = columnsIn([columns, where, joins(), ...order, 'call_id'].join(' '))
      const inner = allOf([...common, ...keyRange, ...VISIBLE, ...filtered.ofEnd])
      return `SELECT ${columns} FROM (SELECT ${used} FROM calls FINAL WHERE ${inner}) AS selected ${joins()} ${where}`
    },
    candidates: (keyRange = []) => {
      const where = whereAll(ofStart.sql)
      const used = columnsIn(`call_started_at ${where}`)
      return `SELECT call_started_at FROM (SELECT ${used} FROM calls
        WHERE ${allOf([...common, ...keyRange, VISIBLE[0]!])}) ${where}`
    },
    isDecidedByStart: ofRest.sql.length === 0 && filtered.ofEnd.length === 0,
    isById: located.isById,
    order,
    parameters: {
      project: projectId,
      position,
      ...filtered.parameters,
      ...located.parameters,
      ...(began && { began_from: dateTime64(began.from), began_to: dateTime64(began.to) }),
      ...ofStart.parameters,
      ...ofRest.parameters,
      ...ordering.all(),
    },
  }
}

const BEGAN =
  "started_at >= {began_from:DateTime64(6, 'UTC')} AND started_at < {began_to:DateTime64(6, 'UTC')}"

const wrapped = ({ sql, parameters }: { readonly sql: string; readonly parameters: Parameters }) => ({
  sql: [sql],
  parameters,
})

export interface Selection {
  /** `SELECT`, `FROM` and `WHERE`. */
  readonly sql: string
  /** Terms for `ORDER BY` that order any two calls. */
  readonly order: readonly string[]
  readonly parameters: Parameters
}

/**
 * Columns, `call_…`, of all selected calls, to be read with {@link SETTINGS}.
 *
 * @throws UnknownField
 */
export const selection = (
  columns: string,
  selected: CallSelection,
  sortBy: readonly OrderBy[] = [],
): Selection => {
  const { selected: sql, order, parameters } = compileSelection(selected, sortBy)
  return { sql: sql(columns), order, parameters }
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
export const callPage =
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

/** Reads payload only of blocks with a selected key. With FINAL, conditions on other columns apply after the merge. */
const KEY_FIRST = 'optimize_move_to_prewhere_if_final = 1'

/** The given calls as of a position, in the order of the ids, without those that are not visible. */
export const callsById =
  (reader: ClickHouseReader) =>
  async (
    projectId: string,
    ids: readonly string[],
    position: Position,
    payload: readonly PayloadColumn[] = PAYLOAD,
  ): Promise<readonly StoredCall[]> => {
    if (ids.length === 0) return []
    const fields = callFields.filter((field) => !isPayload(field) || payload.includes(field))
    const rows = await reader.query<Readonly<Record<string, unknown>>>(
      `SELECT ${fields.map((field) => `${columnAsOf(field)} AS field_${field}`).join(', ')}
      FROM calls FINAL WHERE ${visibleCalls({ ...NO_FILTER, call_ids: ids })} SETTINGS ${KEY_FIRST}`,
      { project: projectId, position, call_ids: ids },
    )
    const found = new Map(rows.map((row) => [row['field_id'], storedCall(row)]))
    return ids.flatMap((id) => found.get(id) ?? [])
  }

const isPayload = (field: CallField): field is PayloadColumn =>
  (PAYLOAD as readonly CallField[]).includes(field)

const visibleCalls = (filter: CallsFilter): string =>
  allOf([
    'project_id = {project:String}',
    ...locate(filter, []).conditions,
    ...filterConditions('', filter).ofStart,
    ...VISIBLE,
  ])

const storedCall = (row: Readonly<Record<string, unknown>>): StoredCall =>
  Object.fromEntries(
    callFields.map((field) => {
      const value = row[`field_${field}`] ?? null
      const isInstant = CALL_COLUMNS[field].kind === 'instant' && typeof value === 'string'
      return [field, isInstant ? instantFrom(value) : value]
    }),
  ) as unknown as StoredCall

/**
 * How many calls are selected, counted up to a limit, and the bytes of their payload.
 *
 * @throws UnknownField
 */
export const countCalls =
  (reader: ClickHouseReader) => async (selected: CallSelection, limit: number | null) => {
    const { sql, parameters } = selection('count() AS total, sum(call_bytes) AS bytes', selected)
    const [row] = await reader.query<{ total: number; bytes: number }>(`${sql} ${SETTINGS}`, parameters)
    const { total, bytes } = row ?? { total: 0, bytes: 0 }
    return { count: Math.min(total, limit ?? Infinity), has_more: limit !== null && total > limit, bytes }
  }

type Sizes = ReadonlyMap<string, number>

/** The bytes of payload of each of the given calls. */
export const callSizes = (reader: ClickHouseReader) => sizesBy(reader, 'id', 'call_ids')

/** The bytes of payload of all calls of each of the given traces. */
export const traceSizesInBytes = (reader: ClickHouseReader) => sizesBy(reader, 'trace_id', 'trace_ids')

const sizesBy =
  (reader: ClickHouseReader, column: 'id' | 'trace_id', key: 'call_ids' | 'trace_ids') =>
  async (projectId: string, values: readonly string[], position: Position): Promise<Sizes> => {
    if (values.length === 0) return new Map()
    const rows = await reader.query<{ name: string; bytes: number }>(
      `SELECT ${column} AS name, sum(${BYTES}) AS bytes FROM calls FINAL
      WHERE ${visibleCalls({ ...NO_FILTER, [key]: values })} GROUP BY name`,
      { project: projectId, position, [key]: values },
    )
    return new Map(rows.map(({ name, bytes }) => [name, bytes]))
  }
