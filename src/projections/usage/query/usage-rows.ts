import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import { NO_FILTER, type CallsFilter } from '../../calls/filter.js'
import { conjunctsOf, startRange } from '../../calls/locate.js'
import { compileSelection, selection, tablesOfMany, type CallSelection } from '../../calls/select.js'
import { allOf, listed, ofProject, raw, sql, timeSql, type Sql } from '../../sql.js'
import { ALL_MERGED, readMerged, type MergedTables } from '../../unmerged-rows.js'
import type { PriceBook } from '../../prices/book.js'
import { COUNTERS, LABEL_COLUMNS, LABELS, valuesOf } from '../columns.js'

/** Usage of traces whose stored totals are of another position, computed for one read. */
export interface OpenTraces {
  readonly traceIds: readonly string[]
  /** See `OpenRows`. */
  readonly rows: readonly string[]
  /** No stored totals are read. */
  readonly isAll?: boolean
  /** The prices of all models of the rows, by the names of the models; null without costs. */
  readonly prices: PriceBook | null
}

export const NO_OPEN_TRACES: OpenTraces = { traceIds: [], rows: [], prices: null }

export type UsageKind = 'own' | 'inclusive'

export interface UsageRowsQuery extends CallSelection {
  readonly kind: UsageKind
  readonly open: OpenTraces
  /** Conditions on `started_at` and `id`. */
  readonly range?: readonly Sql[]
  readonly merged?: MergedTables
}

/**
 * Reads the usage of many calls, with the rows that are to be given to `usageRows`.
 *
 * @throws UnknownField
 */
export const readManyUsage = <A>(
  reader: ClickHouseReader,
  query: UsageRowsQuery,
  readsCalls: boolean,
  read: (merged: MergedTables) => Promise<A>,
): Promise<A> => {
  const compiled = compileSelection(query, [])
  if (compiled.isFew) return read({})
  const tables = [
    ...(query.open.isAll === true ? [] : (['usage_totals'] as const)),
    ...(readsCalls ? tablesOfMany(compiled) : []),
  ]
  return readMerged(reader, query, tables, read)
}

/** Whether the rows are selected by a read of `calls`. */
export const selectsByCalls = ({ filter, operation }: UsageRowsQuery): boolean =>
  operation !== null || !directConditions(filter).isWhole

/**
 * The usage of the selected calls, a row for each call and model, as a subquery. Its columns are `started_at`, `priced_at`
 * (the time that decides the price), `call_id`, `model`, `is_first` (one row of each call), `is_first_of_model` (one row of each call and model), the dimensions and the figures.
 * It is to be read with `SETTINGS`.
 *
 * @throws UnknownField
 */
export const usageRows = ({
  kind,
  open,
  range = [],
  merged: { calls = ALL_MERGED, usage_totals: totals = ALL_MERGED } = {},
  ...asked
}: UsageRowsQuery): Sql => {
  const { projectId, position, filter } = asked
  const own = kind === 'own' ? 'own_' : ''
  const figures = COUNTERS.map((name) => `${own}${name} AS ${name}`)
  const columns = ['started_at', 'call_id', 'call_id AS id', 'model', 'trace_id', ...LABELS]
  const direct = directConditions(filter)
  const conditions = [...direct.conditions, ...range, ...startedWithin(asked)]
  if (!direct.isWhole || asked.operation !== null)
    conditions.push(sql`call_id IN (${selection(sql`call_id`, asked, calls)})`)
  const priced = kind === 'own' ? 'started_at' : 'first_started_at'
  const closed = open.traceIds.length === 0 ? [] : [sql`trace_id NOT IN ${listed(open.traceIds)}`]
  const stored = totals(
    raw(`toUnixTimestamp64Micro(${priced}) AS priced_at, ${own}usage = 'first' AS is_first, ${own}usage != 'variant' AS is_first_of_model,
      ${[...columns, ...figures].join(', ')}`),
    'usage_totals',
    allOf([
      ofProject(projectId, position),
      sql`is_deleted = 0`,
      raw(`${own}usage != 'none'`),
      ...conditions,
      ...closed,
    ]),
  )
  if (open.isAll !== true && open.traceIds.length === 0) return sql`(${stored})`
  const computed = sql`SELECT priced_at, is_first, is_first_of_model, ${raw([...columns, ...COUNTERS].join(', '))}
    FROM (SELECT ${OPEN_SELECTED}
      FROM (SELECT arrayJoin(JSONExtract(arrayJoin(${open.rows}), 'Array(Tuple(${OPEN_TYPES}))')) AS row))
    WHERE ${allOf(conditions)}`
  return open.isAll === true ? sql`(${computed})` : sql`(${stored} UNION ALL ${computed})`
}

/** Conditions on `started_at` that follow from the range and the operation of a selection. */
export const startedWithin = ({ began, operation }: CallSelection): readonly Sql[] => [
  ...startRange(operation === null ? [] : conjunctsOf(operation)),
  ...(began === undefined
    ? []
    : [sql`started_at >= ${timeSql(began.from)}`, sql`started_at < ${timeSql(began.to)}`]),
]

/** The columns of an open row with their types. Times are in microseconds since 1970. */
const OPEN_COLUMNS = {
  started_at: 'Int64',
  priced_at: 'Int64',
  call_id: 'String',
  model: 'String',
  trace_id: 'String',
  is_root: 'UInt8',
  is_first: 'UInt8',
  is_first_of_model: 'UInt8',
  ...valuesOf(LABELS, 'String' as const),
} as const

type OpenColumn = keyof typeof OPEN_COLUMNS
interface SqlValues {
  readonly Int64: bigint
  readonly String: string
  readonly UInt8: boolean
}

/** The usage of a model by a call of an open trace, own or inclusive. */
export type UsageRow = { readonly [C in OpenColumn]: SqlValues[(typeof OPEN_COLUMNS)[C]] } & {
  /** In the order of `COUNTERS`. */
  readonly figures: readonly number[]
}

const OPEN_NAMES = Object.keys(OPEN_COLUMNS) as readonly OpenColumn[]

/** A row as a JSON array, in the order of `OPEN_COLUMNS` and `COUNTERS`. */
const openRow = (row: UsageRow): string => {
  let text = '['
  for (const name of OPEN_NAMES) {
    const value = row[name]
    text += `${typeof value === 'string' ? JSON.stringify(value) : typeof value === 'boolean' ? Number(value) : value},`
  }
  return `${text}${row.figures.join(',')}]`
}

const ROWS_PER_LIST = 1000

/** Collects rows as JSON lists of many: a list of short texts takes longer to write into a statement. */
export class OpenRows {
  readonly #lists: string[] = []
  #rows: string[] = []

  add(row: UsageRow): void {
    if (this.#rows.push(openRow(row)) === ROWS_PER_LIST) this.#close()
  }

  lists(): readonly string[] {
    this.#close()
    return this.#lists
  }

  #close(): void {
    if (this.#rows.length > 0) this.#lists.push(`[${this.#rows.join(',')}]`)
    this.#rows = []
  }
}

const OPEN_TYPES = raw([...Object.values(OPEN_COLUMNS), ...COUNTERS.map(() => 'Int64')].join(', '))

const OPEN_SELECTED = raw(
  [...OPEN_NAMES, ...COUNTERS]
    .map((name, index) =>
      name === 'started_at'
        ? `fromUnixTimestamp64Micro(row.${index + 1}, 'UTC') AS ${name}`
        : `row.${index + 1} AS ${name}`,
    )
    .join(', '),
)

/** The keys of a filter that the rows themselves answer. */
const DIRECT: Readonly<Partial<Record<string, string>>> = {
  trace_ids: 'trace_id',
  call_ids: 'call_id',
  ...Object.fromEntries(
    LABELS.flatMap((label) => {
      const column = LABEL_COLUMNS[label]
      return 'filter' in column ? [[column.filter, label]] : []
    }),
  ),
}

/** Conditions on the rows that a filter means; not whole where the filter says more than they do. */
const directConditions = (filter: CallsFilter | null) => {
  const conditions: Sql[] = []
  let isWhole = true
  for (const [key, values] of Object.entries(filter ?? NO_FILTER)) {
    if (values === null || values === false || (Array.isArray(values) && values.length === 0)) continue
    // In these rows a missing value is an empty string, which no filter selects.
    if (Array.isArray(values) && values.includes('')) {
      isWhole = false
      continue
    }
    const column = DIRECT[key]
    const isPlainOp = key === 'op_names' && (values as readonly string[]).every(isPlainName)
    if (key === 'trace_roots_only') conditions.push(sql`is_root`)
    else if (column !== undefined || isPlainOp)
      conditions.push(sql`${raw(column ?? 'op')} IN ${listed(values as readonly string[])}`)
    else isWhole = false
  }
  return { conditions, isWhole }
}

/** Names that are no references: an op of this name is called so in all its versions. */
const isPlainName = (name: string): boolean => !name.includes(':')
