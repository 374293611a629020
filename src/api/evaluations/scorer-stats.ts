import type { FieldScores, RunScores } from '../../domain/evaluations/run-scores.js'
import { printFieldPath } from '../../domain/query/field-path.js'
import type { JsonObject } from '../../kernel/json/json.js'

const VALUE_TYPES = { number: 'continuous', boolean: 'binary', text: 'text' } as const

/** A field of the scores as `eval_results/query` answers it. Its trials are the rows of the run. */
export const scorerStat = (
  { scorer, path, kind, numbers, mean, ...field }: FieldScores,
  trials: number,
): JsonObject => ({
  scorer_key: scorer,
  path: path.length === 0 ? null : printFieldPath(path),
  value_type: kind && VALUE_TYPES[kind],
  trial_count: trials,
  numeric_count: numbers.length,
  numeric_mean: mean,
  pass_known_count: field.booleanCount,
  pass_true_count: field.trueCount,
  pass_rate: field.trueFraction,
  pass_signal_coverage: field.booleanCount === 0 ? null : field.booleanCount / trials,
  none_count: field.noneCount,
  other_count: field.otherCount,
})

/** What the statistics of a run leave out. */
export const leftOutOf = (runId: string, { scorers }: RunScores): readonly string[] =>
  scorers.flatMap(({ scorer, leftOut }) =>
    leftOut === 0
      ? []
      : [`Run ${runId}: ${leftOut} values of the scorer ${scorer} are in too many or too deep fields.`],
  )
