import type { Json, JsonObject } from '../../kernel/json/json.js'
import type { EvaluationRow } from './row.js'
import { newRunScores, type FieldScores, type RunScores, type ScorerRows } from './run-scores.js'
import { deviationOf, meanOf, NumberList, percentileOf } from './statistics.js'

/**
 * Summarizes a run by the names of its scorers, with the mean seconds of its model as `model_latency`. The summary of a
 * scorer has the shape of its scores, with these in the place of each field:
 * - of numbers `mean`, `min`, `max`, `stddev` (population), `p50` and `p95` (linear interpolation). One that overflows a
 *   double is null;
 * - of booleans `true_count` and `true_fraction`, a fraction of all rows of the run;
 * - of texts of at most 64 characters `categories`, how many rows have each. A field with more than 50 different texts is
 *   free text and has none;
 * - `count`, the rows with a number; without numbers those with a boolean, and without these those in `categories`;
 * - `none_count`, the rows without a value, and `other_count`, the rest of `row_count`. Absent if 0.
 *
 * `mean`, `true_count` and `true_fraction` are where the SDKs put them. A field that is an object in some rows has the
 * figures of its members too, unless they have the name of a figure. Fields of free text and lists have no figures.
 * `left_out_count` counts values beyond the limits of `RunScores`. With no rows the summary of a scorer is `{}`.
 */
export const newRunSummary = (scorers: readonly string[] = []) => {
  const scores = newRunScores(scorers)
  const seconds = new NumberList()
  return {
    add(row: Pick<EvaluationRow, 'scores' | 'modelLatency'>): void {
      scores.add(row.scores)
      if (row.modelLatency !== null) seconds.push(row.modelLatency)
    },
    result: (): JsonObject => {
      const all = scores.result()
      const { length: count } = seconds
      const mean = count === 0 ? null : meanOf(seconds.sorted())
      return { ...summaryOf(all), model_latency: { mean, count, row_count: all.rows } }
    },
  }
}

/** The figures of a field, and those of its members. */
interface Node {
  figures: JsonObject
  readonly members: Map<string, Node>
}

const summaryOf = ({ rows, fields, scorers }: RunScores): JsonObject => {
  const nodes = new Map(scorers.map(({ scorer }) => [scorer, newNode()]))
  for (const field of fields) {
    const figures = figuresOf(field, rows)
    if (figures === undefined) continue
    let node = nodes.get(field.scorer)!
    for (const name of field.path) {
      const next = node.members.get(name) ?? newNode()
      node.members.set(name, next)
      node = next
    }
    node.figures = figures
  }
  return Object.fromEntries(
    scorers.map((scorer) => [
      scorer.scorer,
      rows === 0 ? {} : summaryOfScorer(nodes.get(scorer.scorer)!, scorer),
    ]),
  )
}

const newNode = (): Node => ({ figures: {}, members: new Map() })

const summaryOfScorer = (node: Node, { noneCount, leftOut }: ScorerRows): Json => {
  const summary = {
    ...(noneCount > 0 ? { none_count: noneCount } : {}),
    ...(leftOut > 0 ? { left_out_count: leftOut } : {}),
    ...summaryOfNode(node),
  }
  return Object.keys(summary).length === 0 ? null : summary
}

const summaryOfNode = ({ figures, members }: Node): JsonObject => ({
  ...Object.fromEntries([...members].map(([name, node]) => [name, summaryOfNode(node)])),
  ...figures,
})

/** Undefined for a field inside a score that has only free text. */
const figuresOf = (field: FieldScores, rows: number): JsonObject | undefined => {
  const { kind, count, path, noneCount, otherCount, categories } = field
  if ((kind === null || kind === 'text') && count === 0 && path.length > 0) return undefined
  return {
    ...(field.mean === null ? {} : figuresOfNumbers(field.numbers, field.mean)),
    ...(field.trueFraction === null
      ? {}
      : { true_count: field.trueCount, true_fraction: field.trueFraction }),
    ...(categories.size === 0 ? {} : { categories: sorted(categories) }),
    ...(count === 0 ? {} : { count }),
    ...(noneCount > 0 ? { none_count: noneCount } : {}),
    ...(otherCount > 0 ? { other_count: otherCount } : {}),
    row_count: rows,
  }
}

const sorted = (categories: ReadonlyMap<string, number>): JsonObject =>
  Object.fromEntries([...categories].sort(([a], [b]) => (a < b ? -1 : 1)))

const figuresOfNumbers = (numbers: Float64Array, mean: number): JsonObject => {
  const stddev = deviationOf(numbers, mean)
  return {
    mean,
    min: numbers[0]!,
    max: numbers[numbers.length - 1]!,
    stddev: Number.isFinite(stddev) ? stddev : null,
    p50: percentileOf(numbers, 0.5),
    p95: percentileOf(numbers, 0.95),
  }
}
