import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted } from '../calls/given.js'
import { finishedStatus, logRun, rescore, scorerObject } from './logged-run.js'
import { EVALUATION, evaluationsOf } from './requests.js'

interface Compared {
  readonly evaluation_runs: readonly { readonly row_count: number; readonly left_out_count: number }[]
  readonly scores: readonly {
    readonly scorer: string
    readonly path: readonly string[]
    readonly kind: string
    readonly means: readonly (number | null)[]
    readonly counts: readonly number[]
  }[]
}

const TIMEOUT = { error: 'timeout' }
const NONE = Symbol('no score')

describe('one summary of the scores of a run', () => {
  let service: TestService
  let project_id: string
  let evaluations: ReturnType<typeof evaluationsOf>
  before(async () => {
    service = await sharedService()
  })
  beforeEach(() => {
    project_id = someProject()
    evaluations = evaluationsOf(service, project_id)
  })

  /** A run with one prediction for each score of the scorer `s`, finished without a summary. */
  const runOf = async (scores: readonly (Json | typeof NONE)[]) => {
    const run = await evaluations.startRun()
    for (const [q, score] of scores.entries()) {
      const prediction = await evaluations.predict(run, { q }, 'answer')
      if (score !== NONE) await evaluations.score(prediction, 's', score)
    }
    await evaluations.post(`evaluation_runs/${run}/finish`, {})
    return run
  }

  const summaryOf = async (run: string): Promise<JsonObject> =>
    (await evaluations.get(`evaluation_runs/${run}`))['summary'] as JsonObject

  const results = async (run: string) => {
    const { summary, warnings } = await evaluations.post('eval_results/query', {
      evaluation_run_ids: [run],
      include_summary: true,
    })
    const [ofRun] = (summary as JsonObject)['evaluations'] as unknown as readonly [JsonObject]
    return { warnings, stats: ofRun['scorer_stats'] as readonly JsonObject[] }
  }

  const compared = async (...evaluation_run_ids: readonly string[]): Promise<Compared> =>
    accepted(
      await service.post('/evaluations/compare', { project_id, evaluation_run_ids }),
    ) as unknown as Compared

  const cells = async (...summary_metric_paths: readonly string[]) => {
    const columns = summary_metric_paths.map((summary_metric_path) => ({
      evaluation_object_ref: EVALUATION,
      scorer_name: 's',
      summary_metric_path,
    }))
    const val = { _type: 'Leaderboard', _class_name: 'Leaderboard', name: 'board', columns }
    await service.in(project_id).objects.create('board', val).json()
    const { models } = accepted(await service.post('/leaderboards/read', { project_id, object_id: 'board' }))
    const [model] = models as unknown as readonly [{ cells: readonly ({ value: Json } | null)[] }]
    return model.cells.map((cell) => cell?.value ?? null)
  }

  for (const [what, scores, expected] of [
    ['predictions without a score', [true, true, NONE, NONE], { fraction: 0.5, none: 2 }],
    ['scores that are null', [true, true, null, null], { fraction: 0.5, none: 2 }],
    ['scores that are {}', [true, true, {}, {}], { fraction: 0.5, none: 2 }],
    ['one right answer among crashes', [NONE, NONE, true, null, {}], { fraction: 0.2, none: 4 }],
    ['error objects among booleans', [true, false, true, TIMEOUT], { fraction: 0.5, other: 1 }],
    ['error objects among numbers', [0.5, 1, TIMEOUT], { mean: 0.75, count: 2, other: 1 }],
    ['more errors than numbers', [0.5, TIMEOUT, 'timeout', NONE], { mean: 0.5, count: 1, other: 2, none: 1 }],
    ['numbers among booleans', [true, 0, 1, false], { mean: 0.5, fraction: 0.25, count: 2, other: 2 }],
  ] as readonly (readonly [
    string,
    readonly (Json | typeof NONE)[],
    { mean?: number; fraction?: number; count?: number; none?: number; other?: number },
  ])[])
    it(`has the same figures everywhere with ${what}`, async () => {
      const { mean = null, fraction = null, none = 0, other = 0 } = expected
      const rows = scores.length
      const run = await runOf(scores)
      const figures = (await summaryOf(run))['s'] as JsonObject
      const count = expected.count ?? rows - none - other
      assert.deepEqual(
        ['mean', 'true_fraction', 'count', 'none_count', 'other_count', 'row_count'].map(
          (name) => figures[name] ?? (name.endsWith('_count') ? 0 : null),
        ),
        [mean, fraction, count, none, other, rows],
      )
      const { stats, warnings } = await results(run)
      const stat = stats.find(({ path }) => path === null)!
      assert.deepEqual(
        ['numeric_mean', 'pass_rate', 'trial_count', 'none_count', 'other_count'].map((name) => stat[name]),
        [mean, fraction, rows, none, other],
      )
      assert.deepEqual(warnings, [])
      const { scores: inBoth, evaluation_runs } = await compared(run, await runOf(scores))
      assert.equal(evaluation_runs[0]?.row_count, rows)
      const meansOf = (kind: string) =>
        inBoth.find((one) => one.kind === kind && one.path.length === 0)?.means ?? [null, null]
      assert.deepEqual(
        [meansOf('number'), meansOf('boolean')],
        [
          [mean, mean],
          [fraction, fraction],
        ],
      )
      assert.deepEqual(await cells('mean', 'true_fraction'), [mean, fraction])
    })

  it('has numbers, booleans and members of one field', async () => {
    const run = await runOf([{ v: 1 }, { v: true }, { v: { w: 2 } }])
    const { v } = (await summaryOf(run))['s'] as { v: Record<string, Json> }
    assert.deepEqual([v['mean'], v['true_fraction'], (v['w'] as JsonObject)['mean']], [1, 1 / 3, 2])
    const { stats } = await results(run)
    assert.deepEqual(
      stats.map(({ path, numeric_mean, pass_rate, trial_count }) => [
        path,
        numeric_mean,
        pass_rate,
        trial_count,
      ]),
      [
        ['v', 1, 1 / 3, 3],
        ['v.w', 2, null, 3],
      ],
    )
  })

  it('keeps keys with dots apart from nested keys', async () => {
    const score = { 'a.b': 1, a: { b: 0 } }
    const run = await runOf([score, score])
    const { stats } = await results(run)
    assert.deepEqual(
      stats.map(({ path, numeric_count, trial_count, numeric_mean }) => [
        path,
        numeric_count,
        trial_count,
        numeric_mean,
      ]),
      [
        ['a.b', 2, 2, 0],
        ['a\\.b', 2, 2, 1],
      ],
    )
    const { s: summary } = await summaryOf(run)
    const { 'a.b': dotted, a } = summary as { 'a.b': JsonObject; a: { b: JsonObject } }
    assert.deepEqual([dotted['mean'], a.b['mean']], [1, 0])
    const { scores } = await compared(run, await runOf([score, score]))
    assert.deepEqual(
      scores.map(({ path, means, counts }) => [path, means, counts]),
      [
        [
          ['a', 'b'],
          [0, 0],
          [2, 2],
        ],
        [['a.b'], [1, 1], [2, 2]],
      ],
    )
  })

  it('takes lower_is_better of a key with dots by its escaped path', async () => {
    const lower = { 'a.b': 1, a: { b: 1 } }
    const higher = { 'a.b': 2, a: { b: 2 } }
    const evaluation_run_ids = [await runOf([lower]), await runOf([higher])]
    const lossesWith = async (name: string) => {
      const body = { project_id, evaluation_run_ids, lower_is_better: [name] }
      const { scores } = accepted(await service.post('/evaluations/compare', body)) as unknown as {
        scores: readonly { differences: readonly { losses: number }[] }[]
      }
      return scores.map(({ differences }) => differences[0]?.losses)
    }
    assert.deepEqual(await lossesWith('s.a.b'), [1, 0])
    assert.deepEqual(await lossesWith('s.a\\.b'), [0, 1])
    assert.deepEqual(await lossesWith('s'), [1, 1])
  })

  it('says what it leaves out', async () => {
    const wide = Object.fromEntries(Array.from({ length: 1100 }, (_, at) => [`f${at}`, at]))
    const run = await runOf([wide])
    assert.equal(((await summaryOf(run))['s'] as JsonObject)['left_out_count'], 101)
    const { warnings, stats } = await results(run)
    assert.equal(stats.length, 999)
    assert.match((warnings as readonly string[])[0]!, /101 values of the scorer s/)
    const { evaluation_runs } = await compared(run, await runOf([1]))
    assert.deepEqual(
      evaluation_runs.map(({ left_out_count }) => left_out_count),
      [101, 0],
    )
  })

  it('counts crashed predictions of a run of an SDK when it is rescored', async () => {
    const example = { target: 'answer' }
    const crashes = Array.from({ length: 9 }, () => ({ example, output: null, exception: 'out of memory' }))
    const source = await logRun(service, project_id, [{ example, output: 'answer' }, ...crashes])
    const exact = await service.in(project_id).objects.publish('exact', scorerObject('ExactMatchScorer'))
    const answer = await rescore(service, project_id, source.id, [exact])
    const { call_id } = answer.json<{ call_id: string }>()
    const { output } = await finishedStatus(service, project_id, call_id)
    const { exact_match } = (output as { exact: { exact_match: JsonObject } }).exact
    assert.deepEqual(exact_match, {
      true_count: 1,
      true_fraction: 0.1,
      count: 1,
      none_count: 9,
      row_count: 10,
    })
    assert.equal((await results(call_id)).stats[0]?.['pass_rate'], 0.1)
    const { scores } = await compared(source.id, call_id)
    assert.deepEqual(
      scores.map(({ scorer, means }) => [scorer, means]),
      [['exact', [null, 0.1]]],
    )
  })

  it('counts rows for which a scorer failed', async () => {
    const rows = [{ target: 'answer' }, { target: 'answer' }, {}, {}]
    const logged = rows.map((example) => ({ example, output: 'answer' }))
    const source = await logRun(service, project_id, logged)
    const exact = await service.in(project_id).objects.publish('exact', scorerObject('ExactMatchScorer'))
    const { call_id } = (await rescore(service, project_id, source.id, [exact])).json<{ call_id: string }>()
    const { output } = await finishedStatus(service, project_id, call_id)
    const { exact_match } = (output as { exact: { exact_match: JsonObject } }).exact
    assert.deepEqual([exact_match['true_fraction'], exact_match['none_count']], [0.5, 2])
    assert.equal((await results(call_id)).stats[0]?.['pass_rate'], 0.5)
  })
})
