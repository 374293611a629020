import type * as t from 'io-ts'
import type { comparisonsFrom } from '../../application/evaluations/compared-runs.js'
import { invalidField } from '../../application/failure.js'
import type { Services } from '../../application/services.js'
import type { ComparedRow, ComparedScore, RunFigures } from '../../domain/evaluations/comparison.js'
import { type EvaluationCall, textOf } from '../../domain/evaluations/run-calls.js'
import type { ScoreField } from '../../domain/evaluations/run-scores.js'
import { printFieldPath } from '../../domain/query/field-path.js'
import { arrayOf, nullable, recordOf, withDefault } from '../../kernel/codec/containers.js'
import { int64, integerBetween, json, number, oneOf, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id, projectId } from '../../kernel/ids.js'
import { waitForPrices } from '../calls/requested-costs.js'
import { inBody } from '../server/authorization.js'
import { readProject } from '../server/route-kinds.js'
import type { AnyRoute } from '../server/route.js'

const MIN_RUNS = 2
const MAX_RUNS = 8
const MAX_ROWS_ANSWERED = 1000

/** What each comparison is of. */
export const comparedRuns = {
  required: { project_id: projectId, evaluation_run_ids: arrayOf(id, MIN_RUNS) },
  optional: {
    /** `scorer` or `scorer.field` of the scores of which a lower value is better. */
    lower_is_better: nullable(arrayOf(string)),
  },
}

const compareRequest = closed('EvaluationCompareRequest', {
  says: 'Each run is compared with the first one.',
  required: comparedRuns.required,
  optional: {
    ...comparedRuns.optional,
    limit: withDefault(integerBetween(0, MAX_ROWS_ANSWERED), 100, true),
    offset: withDefault(wholeNumber, 0, true),
  },
})

const interval = nullable(arrayOf(number, 2))

/** The figures of all runs, which each comparison answers. */
export const comparedFigures = {
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
}

const comparison = open('EvaluationComparison', {
  required: {
    ...comparedFigures,
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

export const comparedRunIds = ({
  evaluation_run_ids: ids,
}: Pick<t.TypeOf<typeof compareRequest>, 'evaluation_run_ids'>): readonly string[] => {
  const field = ['evaluation_run_ids']
  if (ids.length > MAX_RUNS)
    throw invalidField(field, 'too_long', `List should have at most ${MAX_RUNS} items`)
  if (new Set(ids).size < ids.length)
    throw invalidField(field, 'value_error', 'Value error, each run should be named once')
  return ids
}

/** `POST /evaluations/compare`: the differences of runs, row by row, with confidence intervals. */
export const compareRoute = (
  services: Pick<Services, 'access' | 'reading'>,
  comparisons: ReturnType<typeof comparisonsFrom>,
): AnyRoute => {
  const { reading } = services
  return readProject(services, {
    method: 'post',
    path: '/evaluations/compare',
    summary:
      'Compare 2 to 8 evaluation runs over the same examples with the first of them: differences with confidence ' +
      'intervals, wins and losses, cost and latency, and the rows with the largest regressions.',
    body: compareRequest,
    response: comparison,
    project: inBody,
    handle: (request) => {
      const { body, project: projectId, reader } = request
      const runIds = comparedRunIds(body)
      return {
        waitFor: () => waitForPrices(reading, request, { list: null }),
        read: async (position) => {
          const query = { projectId, runIds, position }
          const { found, runs, scores, rows } = await comparisons(
            reader,
            query,
            ...directionsOf(body.lower_is_better),
          )
          const answer = {
            ...figuresJson(found, runs, scores),
            rows: rows.slice(body.offset, body.offset + body.limit).map(rowJson),
            total_rows: rows.length,
          }
          return { body: answer }
        },
      }
    },
  })
}

/** The names as they are a key of comparisons, and the fields that they name. */
export const directionsOf = (names: readonly string[] | null) => {
  const sorted = [...new Set(names)].sort()
  return [sorted, isNamedIn(new Set(sorted))] as const
}

const isNamedIn =
  (names: ReadonlySet<string>) =>
  ({ scorer, path }: ScoreField, all: readonly ScoreField[]): boolean => {
    if (names.has(scorer) || names.has(nameOf({ scorer, path }))) return true
    const dotted = [scorer, ...path].join('.')
    // A field whose keys have no dots takes precedence where `s.a.b` could be either.
    return names.has(dotted) && !all.some((other) => nameOf(other) === dotted)
  }

/** The name of the scorer is taken as it is; the keys after it are a field path. */
const nameOf = ({ scorer, path }: ScoreField): string =>
  path.length === 0 ? scorer : `${scorer}.${printFieldPath(path)}`

export const figuresJson = (
  found: readonly EvaluationCall[],
  runs: readonly RunFigures[],
  scores: readonly ComparedScore[],
) => ({
  evaluation_runs: found.map((run, at) => runJson(run, runs[at]!)),
  scores: scores.map((score) =>
    scoreJson(
      score,
      found.map(({ id }) => id),
    ),
  ),
})

const runJson = (
  { id, inputs, display_name }: EvaluationCall,
  { rows: row_count, unmatched, leftOut, meanCost, meanLatency }: RunFigures,
) => ({
  evaluation_run_id: id,
  evaluation: textOf(inputs['self']),
  model: textOf(inputs['model']),
  display_name,
  row_count,
  unmatched_count: unmatched,
  left_out_count: leftOut,
  mean_cost: meanCost,
  mean_latency: meanLatency,
})

const scoreJson = (
  { scorer, path, kind, means, counts, differences }: ComparedScore,
  runIds: readonly string[],
) => ({
  scorer,
  path,
  kind,
  means,
  counts,
  differences: differences.map(({ pValue, ...difference }, at) => ({
    evaluation_run_id: runIds[at + 1]!,
    ...difference,
    p_value: pValue,
  })),
})

const rowJson = ({ exampleDigest, occurrence, regression, rows }: ComparedRow) => ({
  row_digest: exampleDigest,
  occurrence,
  regression,
  evaluations: rows.map((row) =>
    row === null ? null : { predict_and_score_call_id: row.id, scores: row.scores },
  ),
})
