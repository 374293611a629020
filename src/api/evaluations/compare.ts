import type { Services } from '../../application/services.js'
import {
  compareRuns,
  type ComparedRow,
  type ComparedRun,
  type ComparedScore,
  type RunFigures,
} from '../../domain/evaluations/comparison.js'
import type { ScoreField } from '../../domain/evaluations/run-scores.js'
import { printFieldPath } from '../../domain/query/field-path.js'
import type { EvaluationRow } from '../../domain/evaluations/row.js'
import { predictionOf, rowOfCalls, type RowCalls } from '../../domain/evaluations/rows-of-calls.js'
import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import { inSteps, yielding } from '../../kernel/yield-to-event-loop.js'
import { inBody } from '../server/authorization.js'
import { invalidField } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { waitForPrices } from '../calls/requested-costs.js'
import { compareRequest, comparedRunIds, comparison } from './compare-codecs.js'
import { rowCallsOf } from '../../application/evaluations/read-rows.js'
import { runsAt } from './results.js'
import { rowCostsFrom, type CostOf } from '../../application/evaluations/row-costs.js'
import { noSuchRun, textOf } from './runs.js'

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
