import type * as t from 'io-ts'
import { noSuchRun } from '../../application/evaluations/logged-runs.js'
import { type CostOf, rowCallsOf, rowCostsFrom } from '../../application/evaluations/read-rows.js'
import { runsAt } from '../../application/evaluations/results.js'
import { invalidField } from '../../application/failure.js'
import type { Services } from '../../application/services.js'
import {
  type ComparedRow,
  type ComparedRun,
  type ComparedScore,
  compareRuns,
  type RunFigures,
} from '../../domain/evaluations/comparison.js'
import type { EvaluationRow } from '../../domain/evaluations/row.js'
import { predictionOf, type RowCalls, rowOfCalls } from '../../domain/evaluations/rows-of-calls.js'
import { type EvaluationCall, textOf } from '../../domain/evaluations/run-calls.js'
import type { ScoreField } from '../../domain/evaluations/run-scores.js'
import { printFieldPath } from '../../domain/query/field-path.js'
import { arrayOf, nullable, recordOf, withDefault } from '../../kernel/codec/containers.js'
import { int64, integerBetween, json, number, oneOf, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id, projectId } from '../../kernel/ids.js'
import { inSteps, yielding } from '../../kernel/yield-to-event-loop.js'
import { waitForPrices } from '../calls/requested-costs.js'
import { inBody } from '../server/authorization.js'
import { readProject } from '../server/route-kinds.js'
import type { AnyRoute } from '../server/route.js'

const MIN_RUNS = 2
const MAX_RUNS = 8
const MAX_ROWS_ANSWERED = 1000

const compareRequest = closed('EvaluationCompareRequest', {
  says: 'Each run is compared with the first one.',
  required: { project_id: projectId, evaluation_run_ids: arrayOf(id, MIN_RUNS) },
  optional: {
    /** `scorer` or `scorer.field` of the scores of which a lower value is better. */
    lower_is_better: nullable(arrayOf(string)),
    limit: withDefault(integerBetween(0, MAX_ROWS_ANSWERED), 100, true),
    offset: withDefault(wholeNumber, 0, true),
  },
})
type CompareRequest = t.TypeOf<typeof compareRequest>

const interval = nullable(arrayOf(number, 2))

const comparison = open('EvaluationComparison', {
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

const comparedRunIds = ({ evaluation_run_ids: ids }: CompareRequest): readonly string[] => {
  const field = ['evaluation_run_ids']
  if (ids.length > MAX_RUNS)
    throw invalidField(field, 'too_long', `List should have at most ${MAX_RUNS} items`)
  if (new Set(ids).size < ids.length)
    throw invalidField(field, 'value_error', 'Value error, each run should be named once')
  return ids
}

/** The rows of all runs are in memory at once, without examples and outputs. */
const MAX_ROWS = 50_000

const comparedRun = async (
  rowOf: (calls: RowCalls) => EvaluationRow,
  costOf: CostOf,
  pages: AsyncIterable<readonly RowCalls[]>,
): Promise<ComparedRun> => {
  const rows: EvaluationRow[] = []
  const costs = new Map<string, number>()
  const pause = yielding()
  for await (const page of pages)
    for (const calls of page) {
      const row = rowOf(calls)
      const cost = costOf(predictionOf(calls))
      if (cost !== null) costs.set(row.id, cost)
      rows.push({ ...row, example: null, output: null })
      if (rows.length > MAX_ROWS) throw tooManyRows()
      await pause()
    }
  return { rows, costOf: ({ id }) => costs.get(id) }
}

/** `POST /evaluations/compare`: the differences of runs, row by row, with confidence intervals. */
export const compareRoute = (services: Pick<Services, 'sha256' | 'access' | 'reading'>): AnyRoute => {
  const { reading } = services
  const costsOf = rowCostsFrom(reading)
  const rowOf = rowOfCalls(services.sha256)

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
          const found = await runsAt(reader, projectId, runIds, position)
          if (found.length < runIds.length) throw noSuchRun()
          const calls = new Map(found.map((call) => [call.id, call]))
          const costOf = await costsOf(reader, projectId, position)
          const runs: ComparedRun[] = []
          for (const runId of runIds)
            runs.push(await comparedRun(rowOf, costOf, rowCallsOf(reader)(projectId, runId, position)))
          const isLowerBetter = isNamedIn(new Set(body.lower_is_better))
          const { runs: figures, scores, rows } = await inSteps(compareRuns(runs, isLowerBetter))
          const page = rows.slice(body.offset, body.offset + body.limit)
          const answer = {
            evaluation_runs: runIds.map((id, at) => runJson(id, calls.get(id), figures[at]!)),
            scores: scores.map((score) => scoreJson(score, runIds)),
            rows: page.map(rowJson),
            total_rows: rows.length,
          }
          return { body: answer }
        },
      }
    },
  })
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

const tooManyRows = () =>
  invalidField(['evaluation_run_ids'], 'value_error', `Value error, a run has more than ${MAX_ROWS} rows`)

const runJson = (
  evaluation_run_id: string,
  run: EvaluationCall | undefined,
  { rows: row_count, unmatched, leftOut, meanCost, meanLatency }: RunFigures,
) => ({
  evaluation_run_id,
  evaluation: textOf(run?.inputs['self']),
  model: textOf(run?.inputs['model']),
  display_name: run?.display_name ?? null,
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
