import { microseconds, type Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Operation, UsedModel } from '../../domain/query/expression.js'
import { SQL_TIME } from '../clickhouse-values.js'
import { compileCondition } from '../expression/compile.js'
import { orderSql, type OrderBy } from '../expression/order.js'
import { JSON_SETTINGS } from '../expression/readable-json.js'
import { allOf, ofProject, raw, sql, timeSql, typed, type Sql } from '../sql.js'
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
  /** For `$usedModel`, which is refused without it. */
  readonly usedModel?: (used: UsedModel, calls: CallSelection) => Sql
  /** For fields of values that references lead to. */
  readonly expansions?: readonly Expansion[]
}

export const SETTINGS = raw(`SETTINGS ${JSON_SETTINGS}`)

/** With FINAL, conditions on the key apply before the merge, so that other columns are read of few rows. */
export const KEY_FIRST = sql`${SETTINGS}, optimize_move_to_prewhere_if_final = 1`

/** The place of a call in the order of starts. */
export interface CallKey {
  /** As ClickHouse prints it. */
  readonly started_at: string
  readonly id: string
}

export const atTimes = (times: readonly string[]): Sql =>
  sql`started_at IN ${typed(`Array(${SQL_TIME})`, times)}`

const STARTED = sql`started_position <= {position:UInt64}`
/** The row of an end that came before its start has the start too. */
const ENDED = sql`ended_position <= {position:UInt64} AND (started_position IS NULL OR ${STARTED})`
/** Once the rows of a call are merged, this is no row of a call that ended. */
const RUNNING = [STARTED, sql`(ended_position IS NULL OR ended_position > {position:UInt64})`]
export const VISIBLE = [STARTED, sql`(deleted_position IS NULL OR deleted_position > {position:UInt64})`]
export const DELETED = [STARTED, sql`deleted_position <= {position:UInt64}`]

/** The keys of deleted calls of the project. An index knows the granules without any. */
export const DELETED_KEYS = sql`(SELECT started_at, id FROM calls
  WHERE project_id = {project:String} AND deleted_position <= {position:UInt64})`

export const NOT_DELETED = sql`(started_at, id) NOT IN ${DELETED_KEYS}`

const whereAll = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? sql`` : sql`WHERE ${allOf(conditions)}`

interface SelectedOptions {
  /** Conditions on the key. */
  readonly range?: readonly Sql[]
  readonly visible?: readonly Sql[]
  readonly rows?: MergedRows
  /** Joins for fields of the columns, in addition to those of the condition and the order. */
  readonly joins?: Sql
}

export interface CompiledSelection {
  /** Columns of the selected calls, as `SELECT`, `FROM` and `WHERE`. */
  readonly selected: (columns: Sql, options?: SelectedOptions) => Sql
  /** Columns of the rows of starts, or of ends, that meet the conditions on these; a superset. Rows are not merged. */
  readonly candidates: (columns: Sql, range?: readonly Sql[]) => Sql
  /** The column with the position of the candidates' event. */
  readonly candidatePosition: 'call_started_position' | 'call_ended_position'
  /** Candidates are the selected calls, but for deleted and repeated ones. */
  readonly isDecidedByCandidates: boolean
  /** Candidates are rows of starts. */
  readonly isDecidedByStart: boolean
  readonly isLocated: boolean
  readonly isOfRunning: boolean
  /** Few rows are read: conditions on the key locate the calls, or the range of starts is short. */
  readonly isFew: boolean
  readonly ofProject: RowsOfProject
  readonly order: Sql
}

/** @throws UnknownField */
export const compileSelection = (asked: CallSelection, sortBy: readonly OrderBy[]): CompiledSelection => {
  const { projectId, filter, operation, position, began, usage, expansions } = asked
  const { fields, joins } = statementFields(usage, expansions)
  const usedModel = asked.usedModel && ((used: UsedModel) => asked.usedModel!(used, asked))
  const conjuncts = operation === null ? [] : conjunctsOf(operation)
  const isOfStart = conjuncts.map((one) => isDecidedBy(one, 'start', sourceOf))
  const compiled = (ofStart: boolean): readonly Sql[] => {
    const $and = conjuncts.filter((_, index) => isOfStart[index] === ofStart)
    return $and.length === 0 ? [] : [compileCondition({ $and }, fields, usedModel)]
  }
  const ofStart = compiled(true)
  const ofRest = compiled(false)
  const order = orderSql(sortBy, fields, sortBy.some(({ field }) => field === 'id') ? '' : 'call_id ASC')
  const filtered = filterConditions(projectId, filter)
  const located = locate(filter, conjuncts)
  const required = requiredTexts(conjuncts)
  const isOfRunning = conjuncts.some(requiresRunning)
  const isDecidedByStart = ofRest.length === 0 && filtered.ofEnd.length === 0
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
    ofProject(projectId, position),
    ...located.conditions,
    ...(began === undefined
      ? []
      : [sql`started_at >= ${timeSql(began.from)} AND started_at < ${timeSql(began.to)}`]),
    ...filtered.ofStart,
    ...required.ofStart,
  ]
  const ofEnd = [...filtered.ofEnd, ...required.ofEnd]

  return {
    selected: (columns, { range = [], visible = VISIBLE, rows = ALL_MERGED, joins: more = sql`` } = {}) => {
      const where = whereAll([...ofStart, ...ofRest])
      const joined = sql`${joins(range)} ${more}`
      const used = columnsIn(sql`${columns} ${where} ${joined} ${order} call_id`)
      const inner = [...common, ...range, ...visible, ...ofEnd]
      const read = rows(used, 'calls', allOf(inner), allOf(inner.map(ofUnmerged)))
      return sql`SELECT ${columns} FROM (${read}) AS selected ${joined} ${where}`
    },
    candidates: (columns, keyRange = []) => {
      const where = whereAll(isDecidedByEnd ? [...ofStart, ...ofRest] : ofStart)
      const used = columnsIn(sql`${columns} ${where}`)
      const ofRow = isDecidedByEnd ? [ENDED, ...ofEnd] : isOfRunning ? RUNNING : [STARTED]
      return sql`SELECT ${columns} FROM (SELECT ${used} FROM calls
        PREWHERE ${allOf([...common.map(ofUnmerged), ...keyRange, ...ofRow])}) ${where}`
    },
    candidatePosition: isDecidedByEnd ? 'call_ended_position' : 'call_started_position',
    isDecidedByCandidates: isDecidedByStart || isDecidedByEnd,
    isDecidedByStart,
    isLocated: located.isLocated,
    isOfRunning,
    isFew,
    ofProject: { projectId, began },
    order,
  }
}

/**
 * Columns, `call_…`, of all selected calls, to be read with {@link SETTINGS}.
 *
 * @throws UnknownField
 */
export const selection = (columns: Sql, selected: CallSelection, rows = ALL_MERGED): Sql =>
  compileSelection(selected, []).selected(columns, { rows })

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
