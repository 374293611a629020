import type { UsageReporting } from '../../domain/projects/project.js'
import { SQL_TIME } from '../clickhouse-values.js'
import { boolean, keyword, position, table, text, type Column } from '../table.js'
import {
  COUNTERS,
  END_LABELS,
  LABEL_COLUMNS,
  LABELS,
  SOURCES,
  START_LABELS,
  valuesOf,
  type Label,
} from './columns.js'

const enumOf = <Value extends string>(...values: readonly Value[]): Column<Value> => ({
  type: `Enum8(${values.map((value, index) => `'${value}' = ${index}`).join(', ')})`,
})
const digits: Column<string> = { type: 'UInt64' }
const time: Column<string> = { type: SQL_TIME }
const count: Column<number> = { type: 'Int64' }
const compressed = <Value>({ type }: Column<Value>): Column<Value> => ({ type: `${type} CODEC(Delta, LZ4)` })

const labelColumns = <L extends Label>(labels: readonly L[]) =>
  Object.fromEntries(labels.map((label) => [label, LABEL_COLUMNS[label].column])) as Record<L, Column<string>>

/**
 * Thin rows for usage: structure, times and figures, no payload. A row is a fact at a log position: replaying the log
 * writes the same rows again, and "as of N" is the facts at positions up to N. Position 0 means: not in this row. New rows
 * are in few granules until their parts are merged with large ones, so the index finds the traces that changed last.
 */
export const FACTS = table(
  'usage_facts',
  {
    project_id: keyword,
    trace_id: text,
    call_id: text,
    position: digits,
    started_position: digits,
    ended_position: digits,
    deleted_position: digits,
    parent_id: text,
    started_at: time,
    ended_at: time,
    source: enumOf(...SOURCES),
    status_total: { type: 'Nullable(Int64)' },
    models: { type: 'Array(LowCardinality(String))' },
    figures: { type: 'Array(Int64)' },
    response_id: text,
    ...labelColumns([...START_LABELS, ...END_LABELS]),
  },
  ['project_id', 'trace_id', 'call_id', 'position'],
  { indexes: { by_position: 'position TYPE minmax' } },
)

/** Whose usage a project's calls report, from a position on. */
export const REPORTING = table(
  'usage_reporting',
  { project_id: text, position, usage_reporting: enumOf<UsageReporting>('auto', 'own', 'rolled_up') },
  ['project_id', 'position'],
)

/**
 * Whether a row has usage. A call with usage has one 'first' row, so that calls are counted, and for each further model one
 * 'further' row: the other variants of its models are 'variant' rows.
 */
const usage = enumOf('none', 'first', 'further', 'variant')

const NAMED = {
  project_id: keyword,
  started_at: compressed(time),
  call_id: text,
  // With the size of the prompt, the tier of service, audio and searches where prices may depend on them.
  model: keyword,
  trace_id: text,
  // Whether the start names no parent.
  is_root: boolean,
  own_usage: usage,
  usage,
  // Only in the marker of a trace, a row without a call: 'own', inclusive usage is stored for roots only, or 'none', the
  // trace is too large to be summed.
  coverage: keyword,
}
export const NAMED_COLUMNS = Object.keys(NAMED) as readonly (keyof typeof NAMED)[]

export const TOTALS_KEY = ['project_id', 'started_at', 'call_id', 'model'] as const

/**
 * Usage by call and model, as of the checkpoint `usage_totals`. A row is replaced by one of a later position, or deleted. A
 * running call without usage has a row too, so that traces with running calls are found.
 */
export const USAGE_TOTALS = table(
  'usage_totals',
  {
    ...NAMED,
    ...labelColumns(LABELS),
    ...valuesOf(
      COUNTERS.map((counter) => `own_${counter}` as const),
      count,
    ),
    ...valuesOf(COUNTERS, count),
    // Of the calls whose own usage of the model is included.
    first_started_at: compressed(time),
    last_started_at: compressed(time),
    position: compressed(digits),
    is_deleted: { type: 'UInt8' },
  },
  TOTALS_KEY,
  { engine: 'ReplacingMergeTree(position, is_deleted)' },
)
