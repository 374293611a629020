import type * as t from 'io-ts'
import { arrayOf, nullable, recordOf, withDefault } from '../../kernel/codec/containers.js'
import { int64, integerBetween, json, number, oneOf, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id, projectId } from '../../kernel/ids.js'
import { invalidField } from '../../application/failure.js'

const MIN_RUNS = 2
const MAX_RUNS = 8
const MAX_ROWS_ANSWERED = 1000

export const compareRequest = closed('EvaluationCompareRequest', {
  says: 'Each run is compared with the first one.',
  required: { project_id: projectId, evaluation_run_ids: arrayOf(id, MIN_RUNS) },
  optional: {
    /** `scorer` or `scorer.field` of the scores of which a lower value is better. */
    lower_is_better: nullable(arrayOf(string)),
    limit: withDefault(integerBetween(0, MAX_ROWS_ANSWERED), 100, true),
    offset: withDefault(wholeNumber, 0, true),
  },
})
export type CompareRequest = t.TypeOf<typeof compareRequest>

const interval = nullable(arrayOf(number, 2))

export const comparison = open('EvaluationComparison', {
  required: {
    evaluation_runs: arrayOf(
      open('ComparedRun', {
        required: {
          evaluation_run_id: string,
          row_count: int64,
          unmatched_count: int64,
          left_out_count: int64,
        },
        optional: {
          evaluation: nullable(string),
          model: nullable(string),
          display_name: nullable(string),
          mean_cost: nullable(number),
          mean_latency: nullable(number),
        },
      }),
    ),
    scores: arrayOf(
      open('ComparedScore', {
        required: {
          scorer: string,
          path: arrayOf(string),
          kind: oneOf('number', 'boolean'),
          means: arrayOf(nullable(number)),
          counts: arrayOf(int64),
          differences: arrayOf(
            open('ScoreDifference', {
              required: { evaluation_run_id: string, pairs: int64, wins: int64, losses: int64, ties: int64 },
              optional: { difference: nullable(number), interval, p_value: nullable(number) },
            }),
          ),
        },
      }),
    ),
    rows: arrayOf(
      open('ComparedRow', {
        required: {
          row_digest: string,
          occurrence: int64,
          regression: number,
          evaluations: arrayOf(
            nullable(
              open('ComparedTrial', {
                required: { predict_and_score_call_id: string, scores: recordOf(json) },
              }),
            ),
          ),
        },
      }),
    ),
    total_rows: int64,
  },
})

export const comparedRunIds = ({ evaluation_run_ids: ids }: CompareRequest): readonly string[] => {
  const field = ['evaluation_run_ids']
  if (ids.length > MAX_RUNS)
    throw invalidField(field, 'too_long', `List should have at most ${MAX_RUNS} items`)
  if (new Set(ids).size < ids.length)
    throw invalidField(field, 'value_error', 'Value error, each run should be named once')
  return ids
}
