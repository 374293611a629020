import type { ClickHouseReader, SqlParameter, SqlParameters } from '../../../kernel/ports/clickhouse.js'
import { dateTime64, listed, SQL_TIME } from '../../clickhouse-values.js'
import { NO_FILTER, type CallsFilter } from '../../calls/filter.js'
import { conjunctsOf, startRange } from '../../calls/locate.js'
import { allOf, compileSelection, selection, tablesOfMany, type CallSelection } from '../../calls/select.js'
import { ALL_MERGED, readMerged, type MergedTables } from '../../unmerged-rows.js'
import { COUNTERS as FIGURES, type Counter } from '../own-usage.js'

/** Tokens by the cost that they are charged, in the order of `COSTS`. */
export const CHARGED = [
  'charged_prompt_tokens',
  'completion_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const satisfies readonly Counter[]

const TEXTS = ['trace_id', 'op', 'root_op', 'wb_user_id', 'thread_id', 'wb_run_id', 'status'] as const

/** Usage of traces whose stored totals are of another position, computed for one read. */
export interface OpenTraces {
  readonly traceIds: readonly string[]
  /** See `openRow`. */
  readonly rows: readonly string[]
  /** No stored totals are read. */
  readonly isAll?: boolean
}

export const NO_OPEN_TRACES: OpenTraces = { traceIds: [], rows: [] }

export type UsageKind = 'own' | 'inclusive'

export interface UsageRowsQuery extends CallSelection {
  readonly kind: UsageKind
  readonly open: OpenTraces
  /** Conditions on `started_at` and `id`. */
  readonly range?: readonly string[]
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
  operation !== null || !directConditions(filter, {}).isWhole

export interface Relation {
  /** A subquery. */
  readonly sql: string
  readonly parameters: SqlParameters
}

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
}: UsageRowsQuery): Relation => {
  const { projectId, filter } = asked
  const own = kind === 'own' ? 'own_' : ''
  const figures = FIGURES.map((name) => `${own}${name} AS ${name}`)
  const columns = ['started_at', 'call_id', 'call_id AS id', 'model', ...TEXTS]
  const parameters: Record<string, SqlParameter> = { project: projectId }
  const direct = directConditions(filter, parameters)
  const conditions = [...direct.conditions, ...range]
  const started = startedWithin(asked)
  conditions.push(...started.conditions)
  Object.assign(parameters, started.parameters)
  if (!direct.isWhole || asked.operation !== null) {
    const selected = selection('call_id', asked, calls)
    conditions.push(`call_id IN (${selected.sql})`)
    Object.assign(parameters, selected.parameters)
  }
  const priced = kind === 'own' ? 'started_at' : 'first_started_at'
  const closed = open.traceIds.length === 0 ? [] : [`trace_id NOT IN ${listed('open_traces')}`]
  const stored = totals.sql(
    `toUnixTimestamp64Micro(${priced}) AS priced_at, ${own}usage = 'first' AS is_first, 1 AS is_first_of_model,
      ${[...columns, ...figures].join(', ')}`,
    'usage_totals',
    allOf([
      'project_id = {project:String}',
      'is_deleted = 0',
      `${own}usage != 'none'`,
      ...conditions,
      ...closed,
    ]),
  )
  const computed = `SELECT priced_at, is_first, is_first_of_model, ${[...columns, ...FIGURES].join(', ')}
    FROM ${OPEN_ROWS} ${conditions.length === 0 ? '' : `WHERE ${allOf(conditions)}`}`
  Object.assign(parameters, totals.parameters)
  if (open.isAll !== true && open.traceIds.length === 0) return { sql: `(${stored})`, parameters }
  return {
    sql: open.isAll === true ? `(${computed})` : `(${stored} UNION ALL ${computed})`,
    parameters: { ...parameters, open_traces: open.traceIds, open_rows: open.rows },
  }
}

/** Conditions on `started_at` that follow from the range and the operation of a selection. */
export const startedWithin = ({ began, operation }: CallSelection) => {
  const { conditions, parameters } = startRange(operation === null ? [] : conjunctsOf(operation))
  if (began === undefined) return { conditions, parameters }
  return {
    conditions: [
      ...conditions,
      `started_at >= {usage_from:${SQL_TIME}}`,
      `started_at < {usage_to:${SQL_TIME}}`,
    ],
    parameters: { ...parameters, usage_from: dateTime64(began.from), usage_to: dateTime64(began.to) },
  }
}

/** The usage of a model by a call of an open trace, own or inclusive. Times are in microseconds since 1970. */
export interface UsageRow {
  readonly started_at: bigint
  readonly priced_at: bigint
  readonly call_id: string
  readonly model: string
  readonly trace_id: string
  readonly is_root: boolean
  readonly is_first: boolean
  readonly is_first_of_model: boolean
  readonly op: string
  readonly root_op: string
  readonly wb_user_id: string
  readonly thread_id: string
  readonly wb_run_id: string
  readonly status: string
  /** In the order of `COUNTERS`. */
  readonly figures: readonly number[]
}

/** The columns of an open row with their types. */
const OPEN_COLUMNS: readonly (readonly [name: string, type: string])[] = [
  ['started_at', 'Int64'],
  ['priced_at', 'Int64'],
  ['call_id', 'String'],
  ['model', 'String'],
  ['is_root', 'UInt8'],
  ['is_first', 'UInt8'],
  ['is_first_of_model', 'UInt8'],
  ...TEXTS.map((name) => [name, 'String'] as const),
  ...FIGURES.map((name) => [name, 'Int64'] as const),
]

/** A row as a JSON array, in the order of `OPEN_COLUMNS`. */
export const openRow = (row: UsageRow): string =>
  `[${[
    String(row.started_at),
    String(row.priced_at),
    JSON.stringify(row.call_id),
    JSON.stringify(row.model),
    Number(row.is_root),
    Number(row.is_first),
    Number(row.is_first_of_model),
    ...TEXTS.map((name) => JSON.stringify(row[name])),
    ...row.figures,
  ].join(',')}]`

const OPEN_ROWS = `(SELECT ${OPEN_COLUMNS.map(([name], index) =>
  name === 'started_at'
    ? `fromUnixTimestamp64Micro(row.${index + 1}, 'UTC') AS ${name}`
    : `row.${index + 1} AS ${name}`,
).join(', ')}
  FROM (SELECT JSONExtract(arrayJoin({open_rows:Array(String)}),
    'Tuple(${OPEN_COLUMNS.map(([, type]) => type).join(', ')})') AS row))`

/** The keys of a filter that the rows themselves answer. */
const DIRECT = {
  trace_ids: 'trace_id',
  call_ids: 'call_id',
  thread_ids: 'thread_id',
  wb_user_ids: 'wb_user_id',
} as const satisfies Partial<Record<keyof CallsFilter, string>>

/** Conditions on the rows that a filter means; not whole where the filter says more than they do. */
const directConditions = (filter: CallsFilter | null, parameters: Record<string, SqlParameter>) => {
  const conditions: string[] = []
  let isWhole = true
  for (const [key, values] of Object.entries(filter ?? NO_FILTER)) {
    if (values === null || values === false || (Array.isArray(values) && values.length === 0)) continue
    // In these rows a missing value is an empty string, which no filter selects.
    if (Array.isArray(values) && values.includes('')) {
      isWhole = false
      continue
    }
    const column = Object.hasOwn(DIRECT, key) ? DIRECT[key as keyof typeof DIRECT] : undefined
    const isPlainOp = key === 'op_names' && (values as readonly string[]).every(isPlainName)
    if (key === 'trace_roots_only') conditions.push('is_root')
    else if (column !== undefined || isPlainOp) {
      conditions.push(`${column ?? 'op'} IN ${listed(`usage_${key}`)}`)
      parameters[`usage_${key}`] = values as readonly string[]
    } else isWhole = false
  }
  return { conditions, isWhole }
}

/** Names that are no references: an op of this name is called so in all its versions. */
const isPlainName = (name: string): boolean => !name.includes(':')
