import * as E from 'fp-ts/lib/Either.js'
import { nullable } from '../../kernel/codec/containers.js'
import type { Instant } from '../../kernel/codec/instant.js'
import { boolean } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { textUpToCharacters } from '../../kernel/codec/text.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { fieldPath, parseFieldPath, valueAt } from '../query/field-path.js'
import { isOpRef, parseRef } from '../refs/ref.js'
import { decoded } from './scorers/decoded.js'

/** A column of a Leaderboard object of the SDKs: a value in the summary of the runs of an evaluation. */
export interface LeaderboardColumn {
  readonly evaluation_object_ref: string
  readonly scorer_name: string
  /** The keys and indexes that lead to the value in the summary of the scorer, as a field path. */
  readonly summary_metric_path: string
  readonly should_minimize: boolean | null
  /** Why the column has no cells. */
  readonly error: string | null
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
  /** One a column; null where the model has no run of the evaluation, or the column is invalid. */
  readonly cells: readonly (LeaderboardCell | null)[]
}

export const isLeaderboard = (val: Json): val is JsonObject =>
  isJsonObject(val) && (val['_class_name'] ?? val['_type']) === 'Leaderboard'

const MAX_COLUMNS = 200
const MAX_TEXT = 1_000

const text = textUpToCharacters(MAX_TEXT)

const columnInObject = open('LeaderboardColumn', {
  required: { evaluation_object_ref: text, scorer_name: text, summary_metric_path: text },
  optional: { should_minimize: nullable(boolean) },
})

/** The columns of a Leaderboard object; the error says why there are none. */
export const columnsOf = ({ columns = [] }: JsonObject): E.Either<string, readonly LeaderboardColumn[]> => {
  if (!Array.isArray(columns)) return E.left('columns: Input should be a valid list')
  if (columns.length > MAX_COLUMNS) return E.left(`columns: List should have at most ${MAX_COLUMNS} items`)
  return E.right((columns as readonly Json[]).map(columnOf))
}

/** An invalid column shows the texts that it has. */
const columnOf = (value: Json): LeaderboardColumn => {
  const column = decoded(columnInObject, value)
  if (E.isRight(column)) return { ...column.right, error: errorOf(column.right) }
  const members: JsonObject = isJsonObject(value) ? value : {}
  const textIn = (name: string) => (text.is(members[name]) ? members[name] : '')
  return {
    evaluation_object_ref: textIn('evaluation_object_ref'),
    scorer_name: textIn('scorer_name'),
    summary_metric_path: textIn('summary_metric_path'),
    should_minimize: null,
    error: column.left,
  }
}

/** The SDKs name the whole summary of a scorer by an empty path. */
const errorOf = ({
  evaluation_object_ref,
  summary_metric_path,
}: Pick<LeaderboardColumn, 'evaluation_object_ref' | 'summary_metric_path'>): string | null => {
  if (!isObjectRef(evaluation_object_ref)) return NO_REF
  const path = summary_metric_path === '' ? E.right([]) : parseFieldPath(summary_metric_path)
  return E.isLeft(path) ? `summary_metric_path: the path ${path.left}` : null
}

const NO_REF =
  "evaluation_object_ref: Input should be a reference of the form 'weave:///entity/project/object/name:version'"

const isObjectRef = (ref: string): boolean => parseRef(ref)?.kind === 'object' && !isOpRef(ref)

/** Fills the cells of a leaderboard with the newest run of each evaluation and model. */
export const newLeaderboard = (columns: readonly LeaderboardColumn[]) => {
  const models = new Map<string, (LeaderboardCell | null)[]>()
  return {
    add({ id, evaluation, model, started_at, summary }: LeaderboardRun): void {
      const cells = models.get(model) ?? columns.map(() => null)
      models.set(model, cells)
      for (const [at, column] of columns.entries()) {
        const known = cells[at]
        if (column.error !== null || column.evaluation_object_ref !== evaluation) continue
        if (known !== null && known !== undefined && known.started_at >= started_at) continue
        cells[at] = { value: metricIn(summary, column), evaluation_run_id: id, started_at }
      }
    },
    rows: (): readonly LeaderboardRow[] => [...models].map(([model, cells]) => ({ model, cells })),
  }
}

/** As the Python SDK computes it: a path that goes on behind a single value ends there. */
const metricIn = (summary: JsonObject, { scorer_name, summary_metric_path }: LeaderboardColumn): Json => {
  const value = Object.hasOwn(summary, scorer_name) ? summary[scorer_name]! : null
  const path = summary_metric_path === '' ? [] : fieldPath(summary_metric_path)
  for (let length = path.length; length >= 0; length -= 1) {
    const metric = valueAt(value, path.slice(0, length))
    if (metric !== undefined && ((length > 0 && length === path.length) || isSingle(metric))) return metric
  }
  return null
}

const isSingle = (value: Json): boolean => !isJsonObject(value) && !Array.isArray(value)
