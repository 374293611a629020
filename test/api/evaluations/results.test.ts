import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, told } from '../calls/given.js'
import { evaluationsOf, EVALUATION, MODEL } from './requests.js'

interface Trial {
  readonly predict_and_score_call_id: string
  readonly predict_call_id: string | null
  readonly model_output: unknown
  readonly scores: JsonObject
  readonly scorer_call_ids: JsonObject
}

interface Results {
  readonly rows: readonly {
    readonly row_digest: string
    readonly raw_data_row: unknown
    readonly evaluations: readonly {
      readonly evaluation_call_id: string
      readonly trials: readonly Trial[]
    }[]
  }[]
  readonly total_rows: number
  readonly summary: { readonly row_count: number; readonly evaluations: readonly JsonObject[] } | null
  readonly warnings: readonly string[]
}

describe('eval_results/query', () => {
  let service: TestService
  let evaluations: ReturnType<typeof evaluationsOf>
  let runs: readonly [string, string]
  /** Of run 1: by question. */
  const predictions = new Map<number, string>()
  before(async () => {
    service = await sharedService()
    const project = someProject()
    evaluations = evaluationsOf(service, project)
    runs = [await evaluations.startRun(), await evaluations.startRun()]
    for (const [run, questions] of [
      [0, [1, 2, 3, 3]],
      [1, [2, 3, 4]],
    ] as const)
      for (const q of questions) {
        const prediction = await evaluations.predict(runs[run], { q }, `answer ${q} of ${run}`)
        await evaluations.score(prediction, 'exact', (q + run) % 2 === 0)
        await evaluations.score(prediction, 'judge', { points: q * (run + 1) })
        if (run === 0) predictions.set(q, prediction)
      }
  })

  const query = async (more: object = {}): Promise<Results> =>
    accepted(
      await service.post(evaluations.at('eval_results/query'), { evaluation_run_ids: runs, ...more }),
    ) as unknown as Results
  const questions = ({ rows }: Results) => rows.map(({ raw_data_row }) => (raw_data_row as { q: number }).q)

  it('joins the rows of runs by their example', async () => {
    const { rows, total_rows, summary, warnings } = await query({ include_raw_data_rows: true })
    assert.deepEqual([total_rows, summary, warnings], [4, null, []])
    const digests = rows.map(({ row_digest }) => row_digest)
    assert.deepEqual(digests, [...digests].sort())
    const trials = new Map(
      rows.map(({ raw_data_row, evaluations: all }) => [
        (raw_data_row as { q: number }).q,
        all.map(({ evaluation_call_id, trials }) => [
          evaluation_call_id,
          trials.map(({ model_output, scores }) => [model_output, scores]),
        ]),
      ]),
    )
    assert.deepEqual(trials.get(1), [[runs[0], [['answer 1 of 0', { exact: false, judge: { points: 1 } }]]]])
    assert.deepEqual(trials.get(2), [
      [runs[0], [['answer 2 of 0', { exact: true, judge: { points: 2 } }]]],
      [runs[1], [['answer 2 of 1', { exact: false, judge: { points: 4 } }]]],
    ])
    const both = ['answer 3 of 0', { exact: false, judge: { points: 3 } }]
    assert.deepEqual(trials.get(3)?.[0], [runs[0], [both, both]])
  })

  it('names the calls of a trial', async () => {
    const { rows } = await query({ include_raw_data_rows: true })
    const [trial] = rows.find(({ raw_data_row }) => (raw_data_row as { q: number }).q === 1)!.evaluations[0]!
      .trials
    assert.equal(trial?.predict_call_id, predictions.get(1))
    assert.deepEqual(Object.keys(trial!.scorer_call_ids).sort(), ['exact', 'judge'])
    const bare = await query({ include_predict_and_score_children: false })
    for (const { trials } of bare.rows.flatMap(({ evaluations: all }) => all))
      for (const { predict_call_id, scorer_call_ids } of trials)
        assert.deepEqual([predict_call_id, scorer_call_ids], [null, {}])
  })

  it('answers a page, and how many rows there are', async () => {
    const all = await query()
    const first = await query({ limit: 3 })
    const rest = await query({ limit: 3, offset: 3 })
    assert.deepEqual([first.total_rows, first.rows.length, rest.rows.length], [4, 3, 1])
    assert.deepEqual([...first.rows, ...rest.rows], all.rows)
    assert.deepEqual((await query({ offset: 4 })).rows, [])
  })

  it('sorts by scores and inputs', async () => {
    const shown = { include_raw_data_rows: true }
    const by = (sort: object) => query({ ...shown, sort_by: [{ direction: 'desc', ...sort }] })
    assert.deepEqual(questions(await by({ field: 'inputs.q' })), [4, 3, 2, 1])
    assert.deepEqual(
      questions(await by({ field: 'scores.judge.points', mode: 'difference' })).slice(0, 2),
      [3, 2],
    )
    const ofSecond = { field: 'scores.judge.points', evaluation_call_id: runs[1] }
    assert.deepEqual(questions(await by(ofSecond)), [4, 3, 2, 1])
  })

  it('answers the rows that meet filters on scores', async () => {
    const that = async (filters: readonly object[], more: object = {}) =>
      questions(await query({ include_raw_data_rows: true, filters, ...more })).sort()
    const points = { scorer: 'judge', path: 'points' }
    assert.deepEqual(await that([{ ...points, op: 'lt', value: 3 }]), [1, 2])
    assert.deepEqual(await that([{ ...points, op: 'gte', value: 6 }]), [3, 4])
    const ofFirst = { evaluation_call_id: runs[0] }
    assert.deepEqual(await that([{ ...points, ...ofFirst, op: 'gt', value: 2 }]), [3])
    assert.deepEqual(await that([{ scorer: 'exact', op: 'eq', value: false, ...ofFirst }]), [1, 3])
    assert.deepEqual(await that([{ scorer: 'exact', op: 'ne', value: false, ...ofFirst }]), [2])
    assert.deepEqual(await that([{ scorer: 'unknown', op: 'failed' }]), [1, 2, 3, 4])
    assert.deepEqual(await that([{ op: 'failed' }]), [])
    const both = [
      { ...points, op: 'lt', value: 2 },
      { ...points, op: 'gt', value: 7 },
    ]
    assert.deepEqual(await that(both), [])
    assert.deepEqual(await that(both, { filter_logic_operator: 'or' }), [1, 4])
  })

  it('answers the rows that are worse than in another run', async () => {
    const that = async (filter: object) =>
      questions(
        await query({ include_raw_data_rows: true, filters: [{ op: 'worse_than', ...filter }] }),
      ).sort()
    assert.deepEqual(await that({ value: runs[0] }), [2])
    assert.deepEqual(await that({ value: runs[1], scorer: 'exact' }), [3])
    assert.deepEqual(await that({ value: runs[0], scorer: 'judge', path: 'points' }), [])
    const lower = { scorer: 'judge', path: 'points', lower_is_better: true }
    assert.deepEqual(await that({ value: runs[0], ...lower }), [2, 3])
    const filters = [{ op: 'worse_than', value: runs[0] }]
    const { total_rows, summary } = await query({ include_summary: true, limit: 0, filters })
    assert.deepEqual([total_rows, summary?.row_count], [1, 4])
  })

  it('leaves out rows that are not in every run when asked to', async () => {
    const results = await query({
      require_intersection: true,
      include_raw_data_rows: true,
      include_summary: true,
    })
    assert.deepEqual(questions(results).sort(), [2, 3])
    assert.equal(results.total_rows, 2)
    assert.equal(results.summary?.row_count, 2)
    const whole = await query({
      require_intersection: true,
      summary_require_intersection: false,
      include_summary: true,
    })
    assert.equal(whole.summary?.row_count, 4)
  })

  it('summarises the scores of each run', async () => {
    const { summary, rows, total_rows } = await query({ include_summary: true, include_rows: false })
    assert.deepEqual([rows, total_rows, summary?.row_count], [[], 0, 4])
    const [first, second] = summary!.evaluations as readonly [JsonObject, JsonObject]
    assert.deepEqual(
      [first['evaluation_call_id'], first['evaluation_ref'], first['model_ref'], first['trial_count']],
      [runs[0], EVALUATION, MODEL, 4],
    )
    const stats = second['scorer_stats'] as readonly JsonObject[]
    assert.deepEqual(
      stats.map(({ scorer_key, path, pass_rate, numeric_mean }) => [
        scorer_key,
        path,
        pass_rate,
        numeric_mean,
      ]),
      [
        ['exact', null, 1 / 3, null],
        ['judge', 'points', null, 6],
      ],
    )
  })

  it('takes ids of runs under both names, each once', async () => {
    const { rows } = await query({ evaluation_call_ids: [runs[0]], evaluation_run_ids: [runs[0]] })
    assert.equal(rows.length, 3)
    for (const { evaluations: all } of rows) assert.equal(all.length, 1)
  })

  it('resolves references to rows of datasets when asked to', async () => {
    const project = someProject()
    const own = evaluationsOf(service, project)
    const { digest, row_digests } = (await service
      .in(project)
      .tables.create([{ q: 1 }])
      .json()) as { digest: string; row_digests: string[] }
    const ref = `weave:///${project}/table/${digest}/id/${row_digests[0]}`
    const lost = `weave:///${project}/table/${digest}/id/unknown`
    const run = await own.startRun()
    for (const [id, example] of [
      ['row', ref],
      ['other', lost],
    ] as const) {
      const start = {
        ...{ project_id: project, id: `${id}-${run}`, trace_id: run, parent_id: run, attributes: {} },
        ...{
          op_name: 'Evaluation.predict_and_score',
          started_at: '2026-01-01T00:00:00Z',
          inputs: { example },
        },
      }
      await service.calls.start(start).json()
    }
    const asked = { evaluation_run_ids: [run], include_raw_data_rows: true }
    const rawRows = async (more: object) => {
      const { rows, warnings } = accepted(
        await service.post(own.at('eval_results/query'), { ...asked, ...more }),
      ) as unknown as Results
      return [
        new Map(rows.map(({ row_digest, raw_data_row }) => [row_digest, raw_data_row])),
        warnings,
      ] as const
    }
    const [unresolved] = await rawRows({})
    assert.equal(unresolved.get(row_digests[0]!), ref)
    const [resolved, warnings] = await rawRows({ resolve_row_refs: true })
    assert.deepEqual([resolved.get(row_digests[0]!), resolved.get('unknown')], [{ q: 1 }, lost])
    assert.deepEqual(warnings, [`The reference ${lost} does not resolve.`])
  })

  it('has no rows of runs that are not there, and says so', async () => {
    const at = evaluations.at('eval_results/query')
    const elsewhere = evaluationsOf(service, someProject()).at('eval_results/query')
    const notFound = (id: unknown) => `The evaluation run ${String(id)} was not found in this project.`
    for (const [path, ids] of [
      [at, ['unknown']],
      [elsewhere, runs],
      [at, [predictions.get(1)]],
    ] as const) {
      const body = { evaluation_run_ids: ids, include_summary: true }
      assert.deepEqual(accepted(await service.post(path, body)), {
        rows: [],
        total_rows: 0,
        summary: { row_count: 0, evaluations: [] },
        warnings: ids.map(notFound),
      })
    }
    const some = await query({ evaluation_run_ids: ['unknown', runs[0]], include_summary: true })
    assert.deepEqual([some.total_rows, some.summary?.evaluations.length], [3, 1])
    assert.deepEqual(some.warnings, [notFound('unknown')])
    const inAll = await query({ evaluation_run_ids: ['unknown', runs[0]], require_intersection: true })
    assert.equal(inAll.total_rows, 0)
  })

  it('refuses what it cannot do', async () => {
    const at = evaluations.at('eval_results/query')
    for (const [more, problem] of [
      [{ evaluation_run_ids: [] }, 'missing evaluation_run_ids'],
      [{ evaluation_run_ids: runs[0] }, 'list_type evaluation_run_ids'],
      [{ filters: [{}] }, 'missing filters.0.op'],
      [{ filters: [{ op: 'lt', value: 1 }] }, 'missing filters.0.scorer'],
      [{ filters: [{ op: 'worse_than', value: 'unknown' }] }, 'value_error filters.0.value'],
      [{ filters: [{ op: 'failed', path: 'a' }] }, 'value_error filters.0.path'],
      [{ filters: [{ op: 'failed', evaluation_call_id: 'x' }] }, 'value_error filters.0.evaluation_call_id'],
      [{ filters: Array.from({ length: 21 }, () => ({ op: 'failed' })) }, 'too_long filters'],
      [{ sort_by: [{ field: 'id', direction: 'asc' }] }, 'value_error sort_by.0.field'],
      [{ limit: -1 }, 'greater_than_equal limit'],
    ] as const)
      assert.deepEqual(told(await service.post(at, { ...{ evaluation_run_ids: runs }, ...more })), [problem])
  })
})
