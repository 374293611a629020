import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { assertNoneRefused, opOf, startSdkService, type SdkService } from '../../e2e/sdk-service.js'

interface Trial {
  readonly model_output: unknown
  readonly scores: JsonObject
  readonly total_tokens: number | null
  readonly predict_call_id: string
  readonly scorer_call_ids: JsonObject
}

interface Results {
  readonly rows: readonly {
    readonly raw_data_row: unknown
    readonly evaluations: readonly { readonly trials: readonly Trial[] }[]
  }[]
  readonly total_rows: number
  readonly summary: { readonly evaluations: readonly { readonly scorer_stats: readonly JsonObject[] }[] }
}

describe('the results of evaluations by the SDK of npm', () => {
  let sdk: SdkService
  before(async () => {
    sdk = await startSdkService()
  })
  after(() => sdk.stop())

  const resultsOf = async (project: string) => {
    const calls = await sdk.callsOf(project)
    const run = calls.find((call) => opOf(call) === 'Evaluation.evaluate')!
    const results = await sdk.answered<Results>(`/v2/${project}/eval_results/query`, {
      evaluation_call_ids: [run.id],
      include_raw_data_rows: true,
      resolve_row_refs: true,
      include_summary: true,
    })
    return { calls, run, results }
  }
  const trialsOf = ({ rows }: Results) =>
    rows.map(({ raw_data_row, evaluations }) => ({ row: raw_data_row, ...evaluations[0]!.trials[0]! }))
  const statsOf = ({ summary }: Results) =>
    summary.evaluations[0]!.scorer_stats.map(({ scorer_key, path, pass_rate, numeric_mean }) => [
      path === null ? (scorer_key as string) : `${scorer_key as string}.${path as string}`,
      pass_rate ?? numeric_mean,
    ])

  it('are those of Evaluation.evaluate', async () => {
    const project = 'team/evaluating'
    await sdk.told('evaluating', project)
    const { calls, run, results } = await resultsOf(project)
    assert.equal(results.total_rows, 5)
    const trials = new Map(
      trialsOf(results).map((trial) => [(trial.row as { country: string }).country, trial]),
    )
    assert.deepEqual([...trials.keys()].sort(), ['Atlantis', 'France', 'Japan', 'Kenya', 'Peru'])
    const japan = trials.get('Japan')!
    assert.deepEqual([japan.scores['exact'], japan.total_tokens], [false, 15])
    assert.deepEqual((japan.scores['judged'] as JsonObject)['points'], 0.5)
    assert.equal((japan.model_output as { text: string }).text, 'Kyoto')
    for (const { predict_call_id, scorer_call_ids, scores } of trials.values()) {
      assert.equal(opOf(calls.find(({ id }) => id === predict_call_id)!), 'capital_of')
      for (const [scorer, id] of Object.entries(scorer_call_ids)) {
        const call = calls.find((one) => one.id === id)!
        assert.deepEqual([opOf(call), call.output], [scorer, scores[scorer]])
      }
    }
    assert.deepEqual([trials.get('Atlantis')!.model_output, trials.get('Atlantis')!.scores], [null, {}])
    const stats = new Map(statsOf(results) as [string, number][])
    // The SDK says the same fraction; the row whose model failed has no score.
    assert.deepEqual([stats.get('exact'), stats.get('judged.points')], [3 / 5, 3.5 / 4])

    const shown = JSON.parse(
      (await sdk.service.send('GET', `/v2/${project}/evaluation_runs/${run.id}`)).text,
    ) as JsonObject
    assert.deepEqual(
      [shown['status'], shown['evaluation'], shown['model'], shown['summary']],
      ['completed', run.inputs['self'], run.inputs['model'], run.output],
    )
  })

  it('are those of the EvaluationLogger', async () => {
    const project = 'team/logging'
    await sdk.told('loggingAnEvaluation', project)
    const { results } = await resultsOf(project)
    assert.deepEqual(
      trialsOf(results)
        .map(({ row, model_output, scores }) => [row, model_output, scores])
        .sort(([a], [b]) => (a as { a: number }).a - (b as { a: number }).a),
      [
        [{ a: 1, b: 2 }, 3, { correct: true, error: 0 }],
        [{ a: 2, b: 2 }, 5, { correct: false, error: 1 }],
        [{ a: 3, b: 4 }, 7, { correct: true, error: 0 }],
      ],
    )
    assert.deepEqual(statsOf(results), [
      ['correct', 2 / 3],
      ['error', 1 / 3],
    ])
  })

  it('were asked for without a request refused for good', () => assertNoneRefused(sdk.proxy))
})
