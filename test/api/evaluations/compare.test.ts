import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, reasonOf, told } from '../calls/given.js'
import { evaluationsOf, EVALUATION, MODEL } from './requests.js'

interface Compared {
  readonly evaluation_runs: readonly JsonObject[]
  readonly scores: readonly (JsonObject & { readonly differences: readonly JsonObject[] })[]
  readonly rows: readonly {
    readonly regression: number
    readonly evaluations: readonly (JsonObject | null)[]
  }[]
  readonly total_rows: number
}

const PATH = '/evaluations/compare'

describe('evaluations/compare', () => {
  let service: TestService
  let project_id: string
  let evaluation_run_ids: readonly string[]
  before(async () => {
    service = await sharedService()
    project_id = someProject()
    const evaluations = evaluationsOf(service, project_id)
    evaluation_run_ids = [await evaluations.startRun(), await evaluations.startRun()]
    for (const [run, questions] of [
      [0, [1, 2, 3]],
      [1, [2, 3, 4]],
    ] as const)
      for (const q of questions) {
        const prediction = await evaluations.predict(evaluation_run_ids[run]!, { q }, 'answer')
        await evaluations.score(prediction, 'exact', run === 0 || q !== 3)
        await evaluations.score(prediction, 'judge', { points: q * (run + 1) })
      }
  })

  const compare = async (more: object = {}): Promise<Compared> =>
    accepted(await service.post(PATH, { project_id, evaluation_run_ids, ...more })) as unknown as Compared

  it('compares a run with the first one', async () => {
    const { evaluation_runs, scores, rows, total_rows } = await compare()
    assert.deepEqual(
      evaluation_runs.map(({ display_name: _, mean_latency: __, ...run }) => run),
      evaluation_run_ids.map((evaluation_run_id) => ({
        evaluation_run_id,
        evaluation: EVALUATION,
        model: MODEL,
        row_count: 3,
        unmatched_count: 1,
        left_out_count: 0,
        mean_cost: null,
      })),
    )
    const found = scores.map(({ scorer, path, kind, means, differences: [one] }) => {
      const { pairs, difference, wins, losses, ties } = one!
      return { scorer, path, kind, means, pairs, difference, wins, losses, ties }
    })
    assert.deepEqual(found, [
      {
        scorer: 'exact',
        path: [],
        kind: 'boolean',
        means: [1, 2 / 3],
        pairs: 2,
        difference: -0.5,
        wins: 0,
        losses: 1,
        ties: 1,
      },
      {
        scorer: 'judge',
        path: ['points'],
        kind: 'number',
        means: [2, 6],
        pairs: 2,
        difference: 2.5,
        wins: 2,
        losses: 0,
        ties: 0,
      },
    ])
    assert.equal(scores[0]?.differences[0]?.['p_value'], 1)
    assert.deepEqual(scores[1]?.differences[0]?.['interval'], [2, 3])
    assert.equal(total_rows, 2)
    assert.equal(rows[0]?.regression, 1)
    assert.deepEqual(rows[0].evaluations[1]?.['scores'], { exact: false, judge: { points: 6 } })
  })

  it('takes lower scores as better where it is asked to, and pages through the rows', async () => {
    const { scores, rows, total_rows } = await compare({
      lower_is_better: ['judge.points'],
      limit: 1,
      offset: 1,
    })
    assert.equal(scores[1]?.differences[0]?.['losses'], 2)
    assert.deepEqual([rows.length, total_rows], [1, 2])
  })

  it('refuses unknown runs, runs of another project, and less than two runs', async () => {
    const [run] = evaluation_run_ids
    const unknown = { project_id, evaluation_run_ids: [run, 'unknown'] }
    const reason = reasonOf(await service.post(PATH, unknown), 404)
    const elsewhere = { project_id: someProject(), evaluation_run_ids }
    assert.equal(reasonOf(await service.post(PATH, elsewhere), 404), reason)
    for (const ids of [[run], [run, run], Array.from({ length: 9 }, (_, at) => `run-${at}`)])
      assert.equal(told(await service.post(PATH, { project_id, evaluation_run_ids: ids })).length, 1)
  })
})
