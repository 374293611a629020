import type { CallStarted } from '../../domain/calls/call.js'
import { opOf } from '../../domain/calls/op.js'
import { endStatus } from '../../domain/calls/status.js'
import {
  chargedCompletion,
  chargedCompletionAudio,
  chargedCreation,
  chargedPrompt,
  chargedPromptAudio,
} from '../../domain/calls/usage/charged.js'
import { totalTokens, type Figure } from '../../domain/calls/usage/reported.js'
import { EXTRA_UNITS, forEach, forEachCost, UNIT_NAMES, UNITS, type Unit } from '../../domain/prices/units.js'
import type { Json } from '../../kernel/json/json.js'
import { keyword, text, type Column } from '../table.js'

/** An end that a later start repeats has no summary. */
interface End {
  readonly exception: string | null
  readonly summary?: Json
}

/** A text that usage is grouped by, a column of `usage_facts` and `usage_totals`. */
type LabelColumn = {
  readonly column: Column<string>
  /** The name in `group_by` of `/usage/query`. */
  readonly dimension: string
  /** The key of a calls filter that selects by it. */
  readonly filter?: 'thread_ids' | 'wb_user_ids'
} & (
  | { readonly from: 'start'; readonly of: (start: CallStarted) => string }
  /** `before` is the label of a call that has not ended. */
  | { readonly from: 'end'; readonly of: (end: End) => string; readonly before: string }
  /** Read from the topmost call, so only in `usage_totals`. */
  | { readonly from: 'root' }
)

/**
 * Tables and rows of facts and totals, reads of open traces, the dimensions of `/usage/query` and digests are derived from these
 * lists of columns.
 */
export const LABEL_COLUMNS = {
  op: { column: keyword, from: 'start', dimension: 'op', of: ({ op_name }) => opOf(op_name) },
  root_op: { column: keyword, from: 'root', dimension: 'root_op' },
  wb_user_id: {
    column: keyword,
    from: 'start',
    dimension: 'user',
    filter: 'wb_user_ids',
    of: ({ wb_user_id }) => wb_user_id ?? '',
  },
  thread_id: {
    column: text,
    from: 'start',
    dimension: 'thread',
    filter: 'thread_ids',
    of: ({ thread_id }) => thread_id ?? '',
  },
  wb_run_id: { column: text, from: 'start', dimension: 'run', of: ({ wb_run_id }) => wb_run_id ?? '' },
  status: {
    column: keyword,
    from: 'end',
    dimension: 'status',
    of: ({ exception, summary }) => endStatus(exception, summary ?? null),
    before: 'running',
  },
} as const satisfies Readonly<Record<string, LabelColumn>>

type Labels = typeof LABEL_COLUMNS
export type Label = keyof Labels
type LabelFrom<From> = { [L in Label]: Labels[L]['from'] extends From ? L : never }[Label]
export type CallLabel = LabelFrom<'start' | 'end'>

export const LABELS = Object.keys(LABEL_COLUMNS) as readonly Label[]

const labelsFrom = <From extends LabelColumn['from']>(from: From) =>
  LABELS.filter((label): label is LabelFrom<From> => LABEL_COLUMNS[label].from === from)

export const START_LABELS = labelsFrom('start')
export const END_LABELS = labelsFrom('end')

interface CounterColumn {
  readonly of: (used: Readonly<Record<Figure, number>>) => number
  /** Another name that metrics have for it. */
  readonly alias?: string
  /** Only charged or told of, not a token count that answers always show. */
  readonly isHidden?: true
}

/** The counters of a call's usage of a model, from the figures that it reported: columns of `usage_totals`. */
export const COUNTER_COLUMNS = {
  requests: { of: ({ requests }) => requests },
  prompt_tokens: { alias: 'input_tokens', of: ({ prompt_tokens }) => prompt_tokens },
  completion_tokens: { alias: 'output_tokens', of: ({ completion_tokens }) => completion_tokens },
  total_tokens: { of: totalTokens },
  cache_read_input_tokens: { of: (used) => used.cache_read_input_tokens },
  cache_creation_input_tokens: { of: (used) => used.cache_creation_input_tokens },
  /** Cached tokens and audio are charged apart from the other tokens, which stay at least 0. */
  charged_prompt_tokens: { isHidden: true, of: chargedPrompt },
  charged_completion_tokens: { isHidden: true, of: chargedCompletion },
  charged_cache_creation_tokens: { isHidden: true, of: chargedCreation },
  cache_creation_1h_input_tokens: { isHidden: true, of: (used) => used.cache_creation_1h_input_tokens },
  charged_prompt_audio_tokens: { isHidden: true, of: chargedPromptAudio },
  charged_completion_audio_tokens: { isHidden: true, of: chargedCompletionAudio },
  ...forEach(
    EXTRA_UNITS,
    (unit) => ({ isHidden: true, of: (used: Readonly<Record<Figure, number>>) => used[unit] }) as const,
  ),
  /** What the providers reported, in units of 10^-9. */
  reported_cost: { isHidden: true, of: (used) => used.reported_cost },
  /** Reports of which some was not understood. */
  unrecognized_usage: { isHidden: true, of: (used) => used.unrecognized_usage },
  cache_hits: { isHidden: true, of: (used) => used.cache_hits },
  saved_tokens: { isHidden: true, of: (used) => used.saved_tokens },
  /** In units of 10^-12. */
  saved_cost: { isHidden: true, of: (used) => used.saved_cost },
} as const satisfies Readonly<Record<string, CounterColumn>>

type Counters = typeof COUNTER_COLUMNS
export type Counter = keyof Counters
export type ShownCounter = { [C in Counter]: Counters[C] extends { isHidden: true } ? never : C }[Counter]

const isShown = (counter: Counter): counter is ShownCounter => !('isHidden' in COUNTER_COLUMNS[counter])
const counters = Object.keys(COUNTER_COLUMNS) as readonly Counter[]

/** The counters that answers show. */
export const SHOWN_COUNTERS = counters.filter(isShown)
/** Those shown come first, so that a place in `SHOWN_COUNTERS` is one in `COUNTERS` too. */
export const COUNTERS: readonly Counter[] = [...SHOWN_COUNTERS, ...counters.filter((name) => !isShown(name))]

/** `/usage/query` always shows these counters, and the usage of a call only where they are not 0. */
export const RARE_COUNTERS = [
  ...EXTRA_UNITS,
  'unrecognized_usage',
  'cache_hits',
  'saved_tokens',
  'saved_cost',
] as const satisfies readonly Counter[]

/** The name of the cost of a unit in `/trace/usage`. */
export const costField = (unit: Unit) => `${unit}_total_cost` as const

/** The costs of answers and their names in `/trace/usage`. */
export const COST_COLUMNS = {
  prompt_cost: { field: 'prompt_tokens_total_cost' },
  completion_cost: { field: 'completion_tokens_total_cost' },
  cache_read_cost: { field: 'cache_read_input_tokens_total_cost' },
  cache_creation_cost: { field: 'cache_creation_input_tokens_total_cost' },
  ...forEachCost((unit) => ({ field: costField(unit) })),
  /** What providers reported for usage that has no price. */
  provider_cost: { field: 'provider_cost' },
} as const satisfies Readonly<Record<string, { readonly field: string }>>

export type Cost = keyof typeof COST_COLUMNS
export const COSTS = Object.keys(COST_COLUMNS) as readonly Cost[]

/** The counters that are charged, in the order of a price's rates, and the cost that each is part of. */
export const CHARGED = [
  { counter: 'charged_prompt_tokens', cost: 'prompt_cost' },
  { counter: 'charged_completion_tokens', cost: 'completion_cost' },
  { counter: 'cache_read_input_tokens', cost: 'cache_read_cost' },
  { counter: 'charged_cache_creation_tokens', cost: 'cache_creation_cost' },
  { counter: 'cache_creation_1h_input_tokens', cost: 'cache_creation_cost' },
  { counter: 'charged_prompt_audio_tokens', cost: 'prompt_cost' },
  { counter: 'charged_completion_audio_tokens', cost: 'completion_cost' },
  ...UNIT_NAMES.map((unit) => ({ counter: unit, cost: UNITS[unit].cost })),
] as const satisfies readonly { readonly counter: Counter; readonly cost: Cost }[]

/** The counters of which the cost is unknown without a price. */
export const USED = CHARGED.map(({ counter }) => counter).filter((counter) => counter !== 'requests')

type CostField = (typeof COST_COLUMNS)[Cost]['field']
export const COST_FIELDS: readonly CostField[] = COSTS.map((cost) => COST_COLUMNS[cost].field)

/** Whether a cost is a member of the usage of a call only where it is not 0. */
export const isRareCost = (field: string): boolean => RARE_COSTS.has(field)

const RARE_COSTS: ReadonlySet<string> = new Set([...UNIT_NAMES.map(costField), 'provider_cost'])

/** What `/usage/query` sums up and orders by. */
export const MEASURES = ['calls', ...SHOWN_COUNTERS, ...RARE_COUNTERS, ...COSTS, 'total_cost'] as const
export type Measure = (typeof MEASURES)[number]

export const isCost = (measure: string): boolean => measure.endsWith('_cost')

/** Whether a measure is a cost that is unknown without a price. */
export const isPriced = (measure: string): boolean =>
  isCost(measure) && measure !== 'provider_cost' && measure !== 'saved_cost'

/** The name of a measure in answers. */
export const measureName = (measure: Measure): string =>
  measure in COST_COLUMNS ? COST_COLUMNS[measure as Cost].field : measure

/** What wrote a call. `TraceCalls.source` has its index. */
export const SOURCES = ['', 'js-sdk', 'python-sdk', 'gateway', 'otel'] as const

const EPOCH = '1970-01-01 00:00:00.000000'

/** One value for all names. */
export const valuesOf = <Name extends string, Value>(names: readonly Name[], value: Value) =>
  Object.fromEntries(names.map((name) => [name, value])) as Record<Name, Value>

/** The values of a row of `usage_facts` without a start; positions are decimal digits. */
const NO_START = {
  parent_id: '',
  started_at: EPOCH,
  source: '' as (typeof SOURCES)[number],
  ...valuesOf(START_LABELS, ''),
}

const NO_END = {
  ended_at: EPOCH,
  status_total: null as number | null,
  models: [] as readonly string[],
  /** The values of `FIGURES` for each model. */
  figures: [] as readonly number[],
  response_id: '',
  ...valuesOf(END_LABELS, ''),
}

const NO_EVENT = {
  ...valuesOf(['position', 'started_position', 'ended_position', 'deleted_position'], '0'),
  ...NO_START,
  ...NO_END,
}

/** A row of `usage_facts`. */
export type UsageFact = Readonly<Record<'project_id' | 'trace_id' | 'call_id', string>> & typeof NO_EVENT

export const emptyFact = (project_id: string, trace_id: string, call_id: string): UsageFact => ({
  project_id,
  trace_id,
  call_id,
  ...NO_EVENT,
})

export const START_COLUMNS = Object.keys(NO_START)
export const END_COLUMNS = Object.keys(NO_END)
