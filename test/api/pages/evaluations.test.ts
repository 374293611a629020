import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { accepted, reasonOf, told } from '../calls/given.js'
import { evaluationsOf, scorerRef } from '../evaluations/requests.js'
import { logRun } from '../evaluations/logged-run.js'
import { memberOf } from '../graphql/given.js'
import { sharedService, someProject } from '../shared-service.js'

interface Row extends JsonObject {
  readonly id: string
}

describe('the evaluation runs of a project, for the pages', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  const asked = async (project_id: string, more: object = {}, options?: { readonly key: string }) =>
    accepted(await service.post('/api/pages/evaluations', { project_id, ...more }, options)) as unknown as {
      readonly rows: readonly Row[]
      readonly has_more: boolean
    }

  it('are listed newest first, a page at a time, with the same figures as the endpoints of runs', async () => {
    const project = someProject()
    const evaluations = evaluationsOf(service, project)
    const ids: string[] = []
    for (let n = 0; n < 3; n++) {
      const run = await evaluations.startRun({ model: scorerRef(`model-${n}`) })
      for (const q of [1, 2]) {
        const prediction = await evaluations.predict(run, { q }, 'answer')
        await evaluations.score(prediction, 'exact', q > n)
        await evaluations.score(prediction, 'judge', { points: q * n })
      }
      if (n < 2) await evaluations.post(`evaluation_runs/${run}/finish`, {})
      ids.unshift(run)
    }
    const { rows, has_more } = await asked(project)
    assert.deepEqual([rows.map(({ id }) => id), has_more], [ids, false])
    assert.deepEqual(
      rows.map(({ status, rows, model_name, means }) => [status, rows, model_name, means]),
      [2, 1, 0].map((n) => [
        n === 2 ? 'running' : 'completed',
        2,
        `model-${n}`,
        n === 2
          ? []
          : [
              { scorer: 'exact', path: [], kind: 'boolean', value: (2 - n) / 2 },
              { scorer: 'judge', path: ['points'], kind: 'number', value: 1.5 * n },
            ],
      ]),
    )
    const [first, rest] = [await asked(project, { limit: 2 }), await asked(project, { limit: 2, offset: 2 })]
    assert.deepEqual([first.has_more, rest.has_more], [true, false])
    assert.deepEqual([...first.rows, ...rest.rows], rows)
    const found = await asked(project, { q: 'MODEL-1' })
    assert.deepEqual(found.rows, [rows[1]])
    assert.deepEqual((await asked(project, { evaluation_run_ids: [ids[2]] })).rows, [rows[2]])
    assert.deepEqual((await asked(project, { evaluation: 'another' })).rows, [])
  })

  it('have the names behind their references, and the cost of all calls', async () => {
    const project = someProject()
    const { objects } = service.in(project)
    const dataset = await objects.publish('questions', { _type: 'Dataset', _class_name: 'Dataset' })
    const evaluation = await objects.publish('quality', { _type: 'Evaluation', dataset })
    const { id } = await logRun(service, project, [{ example: { q: 1 }, output: 'a' }])
    const run = await evaluationsOf(service, project).startRun({ evaluation })
    const [newest, logged] = (await asked(project)).rows
    assert.deepEqual(
      [newest!.id, newest!['evaluation_name'], newest!['dataset'], newest!['dataset_name'], newest!['cost']],
      [run, 'quality', dataset, 'questions', 0],
    )
    assert.deepEqual(
      [
        logged!.id,
        logged!['evaluation_name'],
        logged!['model_name'],
        logged!['dataset_name'],
        logged!['rows'],
      ],
      [id, 'capitals', 'model', null, 1],
    )
    const { calls } = await service
      .in(project)
      .calls.query({ filter: { call_ids: [id] }, include_costs: true })
      .json()
    assert.ok((logged!['cost'] as number) > 0)
    assert.equal(logged!['tokens'], 15)
    assert.equal(calls.length, 1)
  })

  it('are small, whatever their summaries hold', async () => {
    const project = someProject()
    const evaluations = evaluationsOf(service, project)
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`m${n}`, { mean: n }]))
    for (const summary of [{ exact: many }, { exact: { mean: 1, text: 'x'.repeat(100_000) } }]) {
      const run = await evaluations.startRun()
      await evaluations.post(`evaluation_runs/${run}/finish`, { summary })
    }
    const { rows } = await asked(project)
    assert.deepEqual(
      rows.map(({ means, left_out_count }) => [(means as unknown[]).length, left_out_count]),
      [
        [0, 0],
        [30, 20],
      ],
    )
  })

  it('are not those of another team, and are asked for in bounds', async () => {
    const project = someProject()
    await evaluationsOf(service, project).startRun()
    const { options } = await memberOf(service, 'evaluations')
    const path = '/api/pages/evaluations'
    const unknown = reasonOf(await service.post(path, { project_id: 'no/such' }, options), 404)
    assert.equal(reasonOf(await service.post(path, { project_id: project }, options), 404), unknown)
    for (const more of [{ limit: 101 }, { limit: 0 }, { q: 'x'.repeat(201) }, { offset: -1 }, { other: 1 }])
      assert.equal(told(await service.post(path, { project_id: project, ...more })).length, 1)
  })
})
