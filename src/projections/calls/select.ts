import { microseconds, type Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader, SqlParameter } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Operation } from '../../domain/query/expression.js'
import { dateTime64, SQL_TIME } from '../clickhouse-values.js'
import { compileCondition } from '../expression/compile.js'
import { orderTerms, type OrderBy } from '../expression/order.js'
import { newParameters } from '../expression/parameters.js'
import { JSON_SETTINGS } from '../expression/readable-json.js'
import { columnsIn, sourceOf, statementFields } from './fields.js'
import { filterConditions, ofUnmerged, type CallsFilter } from './filter.js'
import { conjunctsOf, isDecidedBy, locate, needsValue, requiresRunning } from './locate.js'
import { ALL_MERGED, readMerged, type MergedRows, type RowsOfProject } from '../unmerged-rows.js'
import { requiredTexts } from './required-text.js'
import type { Expansion } from './expansions.js'
import type { UsageJoin } from './usage-fields.js'

/** Selects calls of a project as of a position. */
export interface CallSelection {
  readonly projectId: string
  readonly filter: CallsFilter | null
  readonly operation: Operation | null
  readonly position: Position
  /** Only calls that started at `from` or later, and before `to`. */
  readonly began?: { readonly from: Instant; readonly to: Instant }
  /** For the fields of usage, which are unknown without it. */
  readonly usage?: UsageJoin
  /** For fields of values that references lead to. */
  readonly expansions?: readonly Expansion[]
}

export type Parameters = Readonly<Record<string, SqlParameter>>

export const SETTINGS = `SETTINGS ${JSON_SETTINGS}`

/** With FINAL, conditions on the key apply before the merge, so that other columns are read of few rows. */
export const KEY_FIRST = `${SETTINGS}, optimize_move_to_prewhere_if_final = 1`

/** The place of a call in the order of starts. */
export interface CallKey {
  /** As ClickHouse prints it. */
  readonly started_at: string
  readonly id: string
}

/** Conditions on the key. */
export interface Range {
  readonly conditions: readonly string[]
  readonly parameters: Parameters
}

export const WHOLE_RANGE: Range = { conditions: [], parameters: {} }

export const AT_TIMES = `started_at IN {times:Array(${SQL_TIME})}`

const STARTED = 'started_position <= {position:UInt64}'
/** The row of an end that came before its start has the start too. */
const ENDED = `ended_position <= {position:UInt64} AND (started_position IS NULL OR ${STARTED})`
/** Once the rows of a call are merged, this is no row of a call that ended. */
const RUNNING = [STARTED, '(ended_position IS NULL OR ended_position > {position:UInt64})']
export const VISIBLE = [STARTED, '(deleted_position IS NULL OR deleted_position > {position:UInt64})']
export const DELETED = [STARTED, 'deleted_position <= {position:UInt64}']

/** The keys of deleted calls of the project. An index knows the granules without any. */
export const DELETED_KEYS = `(SELECT started_at, id FROM calls
  WHERE project_id = {project:String} AND deleted_position <= {position:UInt64})`

export const allOf = (conditions: readonly string[]): string =>
  conditions.map((one) => `(${one})`).join(' AND ')
const whereAll = (conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : `WHERE ${allOf(conditions)}`

interface SelectedOptions {
  /** Conditions on the key. */
  readonly range?: readonly string[]
  readonly visible?: readonly string[]
  readonly rows?: MergedRows
  /** Joins for fields of the columns, in addition to those of the condition and the order. */
  readonly joins?: string
}

export interface CompiledSelection {
  /** Columns of the selected calls, as `SELECT`, `FROM` and `WHERE`. */
  readonly selected: (columns: string, options?: SelectedOptions) => string
  /** Columns of the rows of starts, or of ends, that meet the conditions on these; a superset. Rows are not merged. */
  readonly candidates: (columns: string, range?: readonly string[]) => string
  /** The column with the position of the candidates' event. */
  readonly candidatePosition: 'call_started_position' | 'call_ended_position'
  /** Candidates are the selected calls, but for deleted and repeated ones. */
  readonly isDecidedByCandidates: boolean
  readonly isLocated: boolean
  readonly isOfRunning: boolean
  /** Few rows are read: conditions on the key locate the calls, or the range of starts is short. */
  readonly isFew: boolean
  readonly ofProject: RowsOfProject
  readonly order: readonly string[]
  readonly parameters: Parameters
}

/** @throws UnknownField */
export const compileSelection = (
  { projectId, filter, operation, position, began, usage, expansions }: CallSelection,
  sortBy: readonly OrderBy[],
): CompiledSelection => {
  const { fields, joins } = statementFields(usage, expansions)
  const conjuncts = operation === null ? [] : conjunctsOf(operation)
  const isOfStart = conjuncts.map((one) => isDecidedBy(one, 'start', sourceOf))
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
  const required = requiredTexts(conjuncts)
  const range = began === undefined ? [] : [BEGAN]
  const isOfRunning = conjuncts.some(requiresRunning)
  const isDecidedByStart = ofRest.sql.length === 0 && filtered.ofEnd.length === 0
  const isDecidedByEnd =
    !isDecidedByStart &&
    filtered.ofStart.length === 0 &&
    conjuncts.every(
      (one) => isDecidedBy(one, 'key', sourceOf) || (isDecidedBy(one, 'end', sourceOf) && needsValue(one)),
    )
  const isFew =
    located.conditions.length > 0 ||
    (began !== undefined && microseconds(began.to) - microseconds(began.from) <= FEW_MICROSECONDS)
  const common = [
    'project_id = {project:String}',
    ...located.conditions,
    ...range,
    ...filtered.ofStart,
    ...required.ofStart,
  ]
  const ofEnd = [...filtered.ofEnd, ...required.ofEnd]

  return {
    selected: (columns, { range = [], visible = VISIBLE, rows = ALL_MERGED, joins: more = '' } = {}) => {
      const where = whereAll([...ofStart.sql, ...ofRest.sql])
      const joined = `${joins(range)} ${more}`
      const used = columnsIn([columns, where, joined, ...order, 'call_id'].join(' '))
      const inner = allOf([...common, ...range, ...visible, ...ofEnd])
      return `SELECT ${columns} FROM (${rows.sql(used, 'calls', inner)}) AS selected ${joined} ${where}`
    },
    candidates: (columns, keyRange = []) => {
      const where = whereAll(isDecidedByEnd ? [...ofStart.sql, ...ofRest.sql] : ofStart.sql)
      const used = columnsIn(`${columns} ${where}`)
      const ofRow = isDecidedByEnd ? [ENDED, ...ofEnd] : isOfRunning ? RUNNING : [STARTED]
      return `SELECT ${columns} FROM (SELECT ${used} FROM calls
        PREWHERE ${allOf([...common.map(ofUnmerged), ...keyRange, ...ofRow])}) ${where}`
    },
    candidatePosition: isDecidedByEnd ? 'call_ended_position' : 'call_started_position',
    isDecidedByCandidates: isDecidedByStart || isDecidedByEnd,
    isLocated: located.isLocated,
    isOfRunning,
    isFew,
    ofProject: { projectId, began },
    order,
    parameters: {
      project: projectId,
      position,
      ...filtered.parameters,
      ...located.parameters,
      ...required.parameters,
      ...(began && { began_from: dateTime64(began.from), began_to: dateTime64(began.to) }),
      ...ofStart.parameters,
      ...ofRest.parameters,
      ...ordering.all(),
      ...usage?.parameters,
    },
  }
}

const BEGAN = `started_at >= {began_from:${SQL_TIME}} AND started_at < {began_to:${SQL_TIME}}`

const wrapped = ({ sql, parameters }: { readonly sql: string; readonly parameters: Parameters }) => ({
  sql: [sql],
  parameters,
})

/**
 * Columns, `call_…`, of all selected calls, to be read with {@link SETTINGS}.
 *
 * @throws UnknownField
 */
export const selection = (
  columns: string,
  selected: CallSelection,
  rows = ALL_MERGED,
): { readonly sql: string; readonly parameters: Parameters } => {
  const { selected: sql, parameters } = compileSelection(selected, [])
  return { sql: sql(columns, { rows }), parameters: { ...parameters, ...rows.parameters } }
}

/** Reads a selection that may have many calls. */
export const readManyCalls = <A>(
  reader: ClickHouseReader,
  compiled: CompiledSelection,
  read: (rows: MergedRows) => Promise<A>,
): Promise<A> =>
  readMerged(reader, compiled.ofProject, tablesOfMany(compiled), ({ calls = ALL_MERGED }) => read(calls))

/** Few rows are merged faster than the parts are listed. */
export const tablesOfMany = ({ isFew }: Pick<CompiledSelection, 'isFew'>) =>
  isFew ? [] : (['calls'] as const)

const FEW_MICROSECONDS = 3n * 86_400_000_000n
