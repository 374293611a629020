import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { Call, SdkService } from '../sdk-service.js'
import {
  ANSWERS,
  assertEqualFigures,
  COUNTRIES,
  expected,
  expectedSummary,
  FAILED_COUNTRY,
  fieldsOf,
  hasAnO,
  meanOf,
  meanOfRun,
  ROWS,
  scoresOfRow,
} from './expected-scores.js'
import { JUDGE_MODEL, JUDGE_USAGE, type OutsideScorers } from './outside-scorers.js'

export interface Rescored {
  readonly project: string
  readonly source: string
  readonly run: string
  readonly status: JsonObject
  /** The scorer that the service cannot run, if one was among them. */
  readonly codeScorer?: string
}

/** The row of each country in a run, with the score calls below it. */
const rowsOf = async (sdk: SdkService, calls: readonly Call[], run: string) => {
  const rows = calls.filter(({ parent_id, inputs }) => parent_id === run && 'example' in inputs)
  const { vals } = await sdk.answered<{ vals: readonly { country: string }[] }>('/refs/read_batch', {
    refs: rows.map(({ inputs }) => inputs['example']!),
  })
  return new Map(
    rows.map((row, at) => [
      vals[at]!.country,
      {
        row,
        scorers: calls.filter(({ parent_id, attributes }) => parent_id === row.id && isScore(attributes)),
      },
    ]),
  )
}

const isScore = ({ weave }: JsonObject): boolean => (weave as JsonObject | undefined)?.['score'] === 'true'

export const assertScores = async (
  sdk: SdkService,
  { project, source, run, status, codeScorer }: Rescored,
) => {
  const { code, output } = status as { code: string; output: JsonObject }
  assert.equal(code, 'complete', JSON.stringify(status))
  const calls = await sdk.callsOf(project)
  const [before, after] = [await rowsOf(sdk, calls, source), await rowsOf(sdk, calls, run)]
  assert.deepEqual([...after.keys()].sort(), [...COUNTRIES, FAILED_COUNTRY].sort())

  for (const [country, { row, scorers }] of after) {
    const { output: answer, scores, model_latency } = row.output as JsonObject
    const recorded = before.get(country)!.row.output as JsonObject
    assert.deepEqual(answer, recorded['output'] ?? recorded['model_output'] ?? null, country)
    assert.equal(model_latency, recorded['model_latency'] ?? null, country)
    assertEqualFigures(scores!, scoresOfRow(country, codeScorer), country)
    const called = scorers.map((call) => [call.op_name.replace(/\.score$/, ''), call.output] as const)
    assertEqualFigures(Object.fromEntries(called), scoresOfRow(country, codeScorer), country)
    assert.equal(called.length, Object.keys(scoresOfRow(country, codeScorer)).length)
  }

  const { model_latency, ...summary } = output
  const ofCode = codeScorer === undefined ? {} : { [codeScorer]: { none_count: ROWS, row_count: ROWS } }
  assertEqualFigures(summary, { ...expectedSummary(), ...ofCode })
  const latencies = [...after.values()].flatMap(
    ({ row }) => (row.output as JsonObject)['model_latency'] ?? [],
  )
  assertEqualFigures(model_latency!, {
    mean: meanOf(latencies as readonly number[]),
    count: latencies.length,
    row_count: ROWS,
  })
  assert.deepEqual(calls.find(({ id }) => id === run)!.output, output)
}

export const assertAsked = async (
  sdk: SdkService,
  { project, run }: Rescored,
  { posted, upstream }: OutsideScorers,
) => {
  assert.ok(posted.every(({ isSigned, body }) => isSigned && body['evaluation_run_id'] === run))
  assert.equal(new Set(posted.map(({ id }) => id)).size, COUNTRIES.length)
  assert.equal(posted.length, COUNTRIES.length)
  assert.deepEqual(posted.map(({ body }) => body.arguments['country']).sort(), COUNTRIES)
  assert.equal(upstream.arrivals.length, COUNTRIES.length)
  const { call_usage } = await sdk.answered<{ call_usage: Record<string, JsonObject> }>('/trace/usage', {
    project_id: project,
    filter: { trace_ids: [run] },
  })
  const { [JUDGE_MODEL]: usage, ...others } = call_usage[run]!
  const { requests, prompt_tokens, completion_tokens, total_tokens } = usage as JsonObject
  assert.deepEqual(
    { requests, prompt_tokens, completion_tokens, total_tokens, others },
    {
      requests: COUNTRIES.length,
      ...Object.fromEntries(
        Object.entries(JUDGE_USAGE).map(([name, used]) => [name, COUNTRIES.length * Number(used)]),
      ),
      others: {},
    },
  )
}

interface Results {
  readonly total_rows: number
  readonly rows: readonly {
    readonly raw_data_row: { readonly country: string }
    readonly evaluations: readonly {
      readonly evaluation_call_id: string
      readonly trials: readonly {
        readonly scores: JsonObject
        readonly model_latency_seconds: number | null
      }[]
    }[]
  }[]
  readonly summary: { readonly evaluations: readonly { readonly scorer_stats: readonly JsonObject[] }[] }
}

export const assertResults = async (sdk: SdkService, { project, source, run, codeScorer }: Rescored) => {
  const results = await sdk.answered<Results>(`/v2/${project}/eval_results/query`, {
    evaluation_run_ids: [source, run],
    include_raw_data_rows: true,
    resolve_row_refs: true,
    include_summary: true,
  })
  const sourceRows = await rowsOf(sdk, await sdk.callsOf(project), source)
  assert.equal(results.total_rows, COUNTRIES.length + 1)
  const sourceScores: JsonObject[] = []
  for (const { raw_data_row, evaluations } of results.rows) {
    const { country } = raw_data_row
    assert.deepEqual(
      evaluations.map(({ evaluation_call_id, trials }) => [evaluation_call_id, trials.length]),
      [
        [source, 1],
        [run, 1],
      ],
    )
    const [of, rescored] = evaluations.map(({ trials }) => trials[0]!.scores)
    const recorded = sourceRows.get(country)!.row.output as JsonObject
    assert.deepEqual(of, recorded['scores'], country)
    sourceScores.push(of!)
    assertEqualFigures(rescored!, scoresOfRow(country, codeScorer), country)
  }
  const ofRuns = results.summary.evaluations.map(({ scorer_stats }) => scorer_stats)
  for (const [at, scores] of [sourceScores, [...expected.values()]].entries())
    assertEqualFigures(
      Object.fromEntries(
        ofRuns[at]!.filter(({ value_type }) => value_type !== null).map(
          ({ scorer_key, path, numeric_mean, pass_rate, numeric_count, pass_known_count }) => [
            [scorer_key as string, ...(typeof path === 'string' ? path.split('.') : [])].join('/'),
            {
              mean: numeric_mean ?? pass_rate ?? null,
              count: Number(numeric_count) + Number(pass_known_count),
            },
          ],
        ),
      ),
      Object.fromEntries(
        [...fieldsOf(scores)].map(([path, values]) => {
          const isText = typeof values[0] === 'string'
          return [path, { mean: isText ? null : meanOfRun(values), count: isText ? 0 : values.length }]
        }),
      ),
    )
}

interface Compared {
  readonly evaluation_runs: readonly JsonObject[]
  readonly scores: readonly {
    readonly scorer: string
    readonly path: readonly string[]
    readonly means: readonly (number | null)[]
    readonly differences: readonly JsonObject[]
  }[]
  readonly rows: readonly (JsonObject & { readonly regression: number })[]
  readonly total_rows: number
}

/** Both runs have the scorer `exact`, with other scores: the answers with an o are Kyoto and Nairobi. */
export const assertCompared = async (sdk: SdkService, { project, source, run }: Rescored) => {
  const request = { project_id: project, evaluation_run_ids: [source, run] }
  const { evaluation_runs, scores, rows, total_rows } = await sdk.answered<Compared>(
    '/evaluations/compare',
    request,
  )
  assert.deepEqual(
    evaluation_runs.map(({ evaluation_run_id, row_count, unmatched_count }) => [
      evaluation_run_id,
      row_count,
      unmatched_count,
    ]),
    [
      [source, COUNTRIES.length + 1, 0],
      [run, COUNTRIES.length + 1, 0],
    ],
  )
  const sourceRows = await rowsOf(sdk, await sdk.callsOf(project), source)
  const fields = [[...sourceRows.values()].map(({ row }) => scoresIn(row)), [...expected.values()]].map(
    fieldsOf,
  )
  const paths = [...new Set(fields.flatMap((one) => [...one.keys()]))].filter((path) =>
    fields.every((one) => typeof one.get(path)?.[0] !== 'string'),
  )
  assert.deepEqual(scores.map(({ scorer, path }) => nameOf(scorer, path)).sort(), paths.sort())
  for (const { scorer, path, means, differences } of scores) {
    const name = nameOf(scorer, path)
    const values = fields.map((one) => one.get(name))
    assertEqualFigures(
      means,
      values.map((some) => (some === undefined ? null : meanOfRun(some))),
      name,
    )
    assert.equal(
      differences[0]!['pairs'],
      values.some((some) => some === undefined)
        ? 0
        : typeof values[0]![0] === 'boolean'
          ? ROWS
          : COUNTRIES.length,
      name,
    )
  }

  const pairs = COUNTRIES.map((country) => {
    const [answer, right] = ANSWERS[country]!
    return { country, first: answer === right, second: hasAnO(answer) }
  })
  const onlyFirst = pairs.filter(({ first, second }) => first && !second).length
  const onlySecond = pairs.filter(({ first, second }) => !first && second).length
  const exact = scores.find(({ scorer }) => scorer === 'exact')!
  // The row of the failed country is true in neither run.
  const total = ROWS + 2
  const centre = (onlySecond - onlyFirst) / total
  const margin =
    (1.959963984540054 * Math.sqrt(onlyFirst + onlySecond + 1 - (onlySecond - onlyFirst) ** 2 / total)) /
    total
  assertEqualFigures(exact.differences, [
    {
      evaluation_run_id: run,
      pairs: ROWS,
      wins: onlySecond,
      losses: onlyFirst,
      ties: ROWS - onlyFirst - onlySecond,
      difference: (onlySecond - onlyFirst) / ROWS,
      interval: [centre - margin, centre + margin],
      // Three pairs differ, two in one direction: every split is at least as likely.
      p_value: 1,
    },
  ])
  assert.equal(total_rows, COUNTRIES.length + 1)
  assert.deepEqual(
    rows.slice(0, onlyFirst).map(({ regression }) => regression),
    new Array(onlyFirst).fill(1),
  )
}

const scoresIn = ({ output }: Call): JsonObject => ((output as JsonObject)['scores'] ?? {}) as JsonObject

const nameOf = (scorer: string, path: readonly string[]): string => [scorer, ...path].join('/')
