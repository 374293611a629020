import type { Instant } from '../codec/instant.js'
import { isJsonObject, type Json, type JsonObject } from '../json/json.js'

/** A column of a Leaderboard object of the SDKs: a value in the summary of the runs of an evaluation. */
export interface LeaderboardColumn {
  readonly evaluation_object_ref: string
  readonly scorer_name: string
  /** The keys and indexes that lead to the value in the summary of the scorer, with dots between. */
  readonly summary_metric_path: string
  readonly should_minimize: boolean | null
}

export interface LeaderboardRun {
  readonly id: string
  readonly evaluation: string
  readonly model: string
  readonly started_at: Instant
  readonly summary: JsonObject
}

export interface LeaderboardCell {
  readonly value: Json
  readonly evaluation_run_id: string
  readonly started_at: Instant
}

export interface LeaderboardRow {
  readonly model: string
  /** One a column; null where the model has no run of the evaluation. */
  readonly cells: readonly (LeaderboardCell | null)[]
}

export const isLeaderboard = (val: Json): val is JsonObject =>
  isJsonObject(val) && (val['_class_name'] ?? val['_type']) === 'Leaderboard'

/** The columns of a Leaderboard object. A column that names no evaluation or scorer has no cells. */
export const columnsOf = ({ columns }: JsonObject): readonly LeaderboardColumn[] =>
  Array.isArray(columns)
    ? columns.filter(isJsonObject).map((column) => ({
        evaluation_object_ref: textIn(column, 'evaluation_object_ref'),
        scorer_name: textIn(column, 'scorer_name'),
        summary_metric_path: textIn(column, 'summary_metric_path'),
        should_minimize: typeof column['should_minimize'] === 'boolean' ? column['should_minimize'] : null,
      }))
    : []

const textIn = (column: JsonObject, name: string): string => {
  const value = column[name]
  return typeof value === 'string' ? value : ''
}

/** Fills the cells of a leaderboard with the newest run of each evaluation and model. */
export const newLeaderboard = (columns: readonly LeaderboardColumn[]) => {
  const models = new Map<string, (LeaderboardCell | null)[]>()
  return {
    add({ id, evaluation, model, started_at, summary }: LeaderboardRun): void {
      const cells = models.get(model) ?? columns.map(() => null)
      models.set(model, cells)
      for (const [at, column] of columns.entries()) {
        const known = cells[at]
        if (column.evaluation_object_ref !== evaluation) continue
        if (known !== null && known !== undefined && known.started_at >= started_at) continue
        cells[at] = { value: metricIn(summary, column), evaluation_run_id: id, started_at }
      }
    },
    rows: (): readonly LeaderboardRow[] => [...models].map(([model, cells]) => ({ model, cells })),
  }
}

/** As the Python SDK computes it: a path that goes on behind a single value ends there. */
const metricIn = (summary: JsonObject, { scorer_name, summary_metric_path }: LeaderboardColumn): Json => {
  let value: Json = ownIn(summary, scorer_name)
  for (const part of summary_metric_path.split('.'))
    if (isJsonObject(value)) value = ownIn(value, part)
    else if (Array.isArray(value)) value = (value[Number(part)] as Json | undefined) ?? null
    else break
  return value
}

const ownIn = (value: JsonObject, key: string): Json => (Object.hasOwn(value, key) ? value[key]! : null)
