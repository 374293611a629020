import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { accepted, reasonOf, told } from '../calls/given.js'
import { evaluationsOf, scorerRef } from '../evaluations/requests.js'
import { sharedService, someProject } from '../shared-service.js'

interface Page {
  readonly scores: unknown
  readonly evaluation_runs: unknown
  readonly counts: JsonObject
  readonly rows: readonly {
    readonly row_digest: string
    readonly trials: number
    readonly regression: number
    readonly improvement: number
    readonly runs: readonly ({
      readonly ids: readonly string[]
      readonly values: readonly unknown[]
    } | null)[]
  }[]
}

describe('the rows of evaluation runs, for the pages', () => {
  let service: TestService
  let project_id: string
  let evaluations: ReturnType<typeof evaluationsOf>
  let runs: readonly [string, string]
  const ids = new Map<string, string>()
  before(async () => {
    service = await sharedService()
    project_id = someProject()
    evaluations = evaluationsOf(service, project_id)
    runs = [await evaluations.startRun(), await evaluations.startRun()]
    // The second question has two trials in each run, the last one is in the first run alone.
    for (const [run, questions] of [
      [0, [1, 2, 2, 3, 4]],
      [1, [1, 2, 2, 3]],
    ] as const)
      for (const [at, q] of questions.entries()) {
        const inputs = { question: `q${q}`, expected: 9007199254740993n.toString() }
        const prediction = await evaluations.predict(runs[run], inputs, `a${q} of ${run}`)
        const points = run === 0 ? 5 : q === 1 ? 3 : q === 2 ? 4 + 3 * (at - 1) : 9
        await evaluations.score(prediction, 'judge', { points })
        const id = (await service.in(project_id).calls.read(prediction)).parent_id as string
        ids.set(`${run}:${at}`, id)
      }
  })

  const ask = async (path: string, more: object) =>
    accepted(await service.post(`/api/pages/${path}`, { project_id, ...more }))
  const compare = async (more: object = {}) =>
    (await ask('comparison', { evaluation_run_ids: runs, ...more })) as unknown as Page

  it('are compared by example, with the trials of each as one row', async () => {
    const { rows, counts, scores, evaluation_runs } = await compare()
    assert.deepEqual(counts, { all: 3, regressions: 2, improvements: 2 })
    const shown = rows.map(({ trials, regression, improvement, runs }) => [
      trials,
      regression,
      improvement,
      runs.map((run) => run?.values[0]),
    ])
    assert.deepEqual(shown, [
      [1, 2 / 6, -2 / 6, [5, 3]],
      [2, 1 / 6, 2 / 6, [5, 5.5]],
      [1, -4 / 6, 4 / 6, [5, 9]],
    ])
    assert.deepEqual(rows[1]!.runs[1]?.ids, [ids.get('1:1'), ids.get('1:2')])
    const better = await compare({ only: 'improvements' })
    assert.deepEqual(better.rows, [rows[2], rows[1]])
    assert.deepEqual((await compare({ only: 'regressions', offset: 1 })).rows, [rows[1]])
    const lower = await compare({ lower_is_better: ['judge.points'], only: 'regressions' })
    assert.equal(lower.rows[0]!.row_digest, rows[2]!.row_digest)
    const same = accepted(
      await service.post('/evaluations/compare', { project_id, evaluation_run_ids: runs }),
    )
    assert.deepEqual(
      { scores, evaluation_runs },
      { scores: same['scores'], evaluation_runs: same['evaluation_runs'] },
    )
  })

  it('are compared again when a score is given later, or taken away, and as of a position as before', async () => {
    const { id } = (
      await service
        .in(project_id)
        .calls.query({ filter: { parent_ids: [ids.get('0:0')] } })
        .json()
    ).calls.find(({ op_name }) => (op_name as string).includes('predict'))!
    const before = await service.post('/api/pages/comparison', { project_id, evaluation_run_ids: runs })
    const feedback = await service
      .in(project_id)
      .feedback.create({
        weave_ref: `weave:///${project_id}/call/${id}`,
        feedback_type: 'wandb.runnable.later',
        runnable_ref: scorerRef('later'),
        payload: { output: 1 },
      })
      .json()
    const named = async (headers = {}) => {
      const body = { project_id, evaluation_run_ids: runs, limit: 0 }
      const { scores } = accepted(
        await service.post('/api/pages/comparison', body, { headers }),
      ) as unknown as { scores: readonly { scorer: string }[] }
      return scores.map(({ scorer }) => scorer)
    }
    assert.deepEqual(await named(), ['judge', 'later'])
    const position = before.headers.get('tallytree-position')!
    assert.deepEqual(await named({ 'Tallytree-As-Of': position }), ['judge'])
    await service
      .in(project_id)
      .feedback.purge({ query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: feedback.id }] } } })
      .json()
    assert.deepEqual(await named(), ['judge'])
  })

  it('are answered by id, as lines or whole', async () => {
    const id = ids.get('0:0')!
    const lines = await ask('evaluation-trials', { ids: [id, 'unknown'] })
    const [line, ...others] = lines['data'] as unknown as readonly JsonObject[]
    assert.deepEqual(others, [])
    assert.deepEqual(
      [line!['id'], line!['input'], line!['expected'], line!['output'], line!['scores']],
      [id, 'q1', '9007199254740993', 'a1 of 0', { judge: { points: 5 } }],
    )
    const [whole] = (await ask('evaluation-trials', { ids: [id], whole: true }))[
      'data'
    ] as unknown as readonly JsonObject[]
    assert.deepEqual([whole!['input'], whole!['output']], [{ question: 'q1' }, 'a1 of 0'])
    const many = Array.from({ length: 41 }, (_, n) => `id-${n}`)
    reasonOf(await service.post('/api/pages/evaluation-trials', { project_id, ids: many, whole: true }), 400)
  })

  it('are answered a page at a time, with filters, and with the distribution of each score', async () => {
    const ofRun = { evaluation_run_id: runs[1] }
    const points = { scorer: 'judge', path: 'points' }
    const rows = (more: object) =>
      ask('evaluation-rows', { ...ofRun, ...more }) as unknown as Promise<{
        data: readonly JsonObject[]
        trial_ids: readonly (readonly string[])[]
        total: number
      }>
    const sort_by = [{ field: 'scores.judge.points', direction: 'asc' }]
    const all = await rows({ sort_by })
    assert.deepEqual([all.total, all.data.map(({ input }) => input)], [3, ['q1', 'q2', 'q3']])
    assert.deepEqual(all.trial_ids[1], [ids.get('1:1'), ids.get('1:2')])
    const second = await rows({ sort_by, limit: 1, offset: 1 })
    assert.deepEqual([second.total, second.data], [3, [all.data[1]]])
    const low = await rows({ filters: [{ ...points, op: 'lt', value: 4 }] })
    assert.deepEqual(low.data, [all.data[0]])
    const scores = await ask('evaluation-scores', ofRun)
    const [field] = scores['fields'] as unknown as readonly JsonObject[]
    assert.deepEqual([scores['rows'], field!['mean'], field!['p50']], [4, 5.75, 5.5])
    const { from, to, counts } = field!['distribution'] as unknown as {
      from: number
      to: number
      counts: number[]
    }
    assert.deepEqual([from, to, counts.reduce((sum, one) => sum + one, 0)], [3, 9, 4])
  })

  it('are refused for unknown runs and out of bounds', async () => {
    for (const path of ['evaluation-rows', 'evaluation-scores'])
      reasonOf(await service.post(`/api/pages/${path}`, { project_id, evaluation_run_id: 'unknown' }), 404)
    const unknown = { project_id, evaluation_run_ids: [runs[0], 'unknown'] }
    reasonOf(await service.post('/api/pages/comparison', unknown), 404)
    for (const more of [{ limit: 501 }, { only: 'some' }, { evaluation_run_ids: [runs[0]] }])
      assert.equal(
        told(await service.post('/api/pages/comparison', { project_id, evaluation_run_ids: runs, ...more }))
          .length,
        1,
      )
  })
})
