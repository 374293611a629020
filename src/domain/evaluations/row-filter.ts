import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { valueAt } from '../query/field-path.js'

export const FILTER_OPS = ['failed', 'eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'worse_than'] as const

export interface RowFilter {
  /** Null for any scorer, which only `failed` and `worse_than` can have. */
  readonly scorer: string | null
  /** The keys within the score; none for the score itself. */
  readonly path: readonly string[]
  readonly op: (typeof FILTER_OPS)[number]
  /** What the score is compared with. */
  readonly value: Json
  /** The place of the run of `worse_than`; null for the others. */
  readonly than: number | null
  /** The place of the run whose scores count; null for any. */
  readonly run: number | null
  readonly lowerIsBetter: boolean
}

export interface FilteredRow {
  readonly scores: Readonly<Record<string, Json>>
  readonly exception: string | null
}

/** Whether the rows of one example, by the place of their run, meet a filter: one trial is enough. */
export const meetsFilter = (filter: RowFilter, rows: readonly (readonly FilteredRow[])[]): boolean =>
  rows.some(
    (trials, run) =>
      (filter.run === null || filter.run === run) &&
      trials.some((trial, at) =>
        filter.than === null
          ? meets(filter, trial)
          : run !== filter.than && isWorse(filter, trial, rows[filter.than]?.[at]),
      ),
  )

const meets = ({ scorer, path, op, value }: RowFilter, { scores, exception }: FilteredRow): boolean => {
  if (op === 'failed' && scorer === null)
    return exception !== null || Object.values(scores).some((score) => score === null)
  const score = valueOf(scores, scorer!, path)
  if (op === 'failed') return score === undefined || score === null
  if (score === undefined || score === null) return false
  if (op === 'eq' || op === 'ne') return (comparable(score) === comparable(value)) === (op === 'eq')
  const [left, right] = [comparable(score), comparable(value)]
  if (typeof left !== 'number' || typeof right !== 'number') return false
  return op === 'lt'
    ? left < right
    : op === 'lte'
      ? left <= right
      : op === 'gt'
        ? left > right
        : left >= right
}

/** Own members alone: names of scorers are not field paths. */
const valueOf = (scores: FilteredRow['scores'], scorer: string, path: readonly string[]): Json | undefined =>
  Object.hasOwn(scores, scorer) ? valueAt(scores[scorer]!, path) : undefined

const comparable = (value: Json): Json =>
  typeof value === 'boolean' ? Number(value) : typeof value === 'string' ? (numberIn(value) ?? value) : value

/** Tables in CSV and judges give numbers as text. */
export const numberIn = (text: string): number | undefined => {
  const number = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : NaN
  return Number.isFinite(number) ? number : undefined
}

const isWorse = (
  { scorer, path, lowerIsBetter }: RowFilter,
  { scores }: FilteredRow,
  other: FilteredRow | undefined,
): boolean => {
  if (other === undefined) return false
  if (scorer === null) return isAnyLess(scores, other.scores)
  const [ours, theirs] = [valueOf(scores, scorer, path), valueOf(other.scores, scorer, path)]
  return lowerIsBetter ? isAnyLess(theirs, ours) : isAnyLess(ours, theirs)
}

/** Whether a number or a boolean is less than the one at the same place. A boolean that is missing is not true. */
const isAnyLess = (value: Json | undefined, than: Json | undefined): boolean => {
  if (isJsonObject(than))
    return Object.entries(than).some(([name, member]) =>
      isAnyLess(isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined, member),
    )
  if (typeof than === 'boolean') return than && value !== true
  return typeof than === 'number' && typeof value === 'number' && value < than
}
