import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, reasonOf, told } from '../calls/given.js'
import { EVALUATION, evaluationsOf, MODEL, scorerRef } from './requests.js'

describe('leaderboards', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  const OTHER = 'weave:///team/p/object/cities:v0'
  const columns = [
    { evaluation_object_ref: EVALUATION, scorer_name: 'exact', summary_metric_path: 'true_fraction' },
    {
      evaluation_object_ref: EVALUATION,
      scorer_name: 'model_latency',
      summary_metric_path: 'mean',
      should_minimize: true,
    },
    { evaluation_object_ref: OTHER, scorer_name: 'exact', summary_metric_path: 'true_fraction' },
  ]

  const publish = async (project_id: string, more: object = {}) => {
    const val = {
      _type: 'Leaderboard',
      _class_name: 'Leaderboard',
      _bases: ['BaseObject', 'BaseModel'],
      name: 'board',
      description: 'of models',
      columns,
      ...more,
    }
    return (await service.in(project_id).objects.create('board', val).json()).digest
  }

  it('are read with the newest finished run of each evaluation and model', async () => {
    const project_id = someProject()
    const evaluations = evaluationsOf(service, project_id)
    const digest = await publish(project_id)
    const run = async (evaluation: string, model: string, fraction: number | null) => {
      const id = await evaluations.startRun({ evaluation, model })
      const summary = { exact: { true_fraction: fraction }, model_latency: { mean: 2 } }
      if (fraction !== null) await evaluations.post(`evaluation_runs/${id}/finish`, { summary })
      return id
    }
    await run(EVALUATION, MODEL, 0.1)
    const newest = await run(EVALUATION, MODEL, 0.2)
    await run(EVALUATION, MODEL, null)
    const second = await run(EVALUATION, scorerRef('second'), 0.3)
    const ofOther = await run(OTHER, MODEL, 0.4)
    await run(scorerRef('unrelated'), MODEL, 0.5)

    const board = accepted(
      await service.post('/leaderboards/read', { project_id, object_id: 'board' }),
    ) as unknown as {
      models: readonly {
        model: string
        cells: readonly ({ value: number; evaluation_run_id: string } | null)[]
      }[]
      columns: readonly object[]
    }
    assert.deepEqual(
      { ...board, models: undefined, columns: undefined },
      {
        object_id: 'board',
        digest,
        name: 'board',
        description: 'of models',
        models: undefined,
        columns: undefined,
      },
    )
    assert.deepEqual(
      board.columns,
      columns.map((column) => ({ should_minimize: null, error: null, ...column })),
    )
    assert.deepEqual(
      board.models.map(({ model, cells }) => [
        model,
        cells.map((cell) => cell && [cell.value, cell.evaluation_run_id]),
      ]),
      [
        [
          MODEL,
          [
            [0.2, newest],
            [2, newest],
            [0.4, ofOther],
          ],
        ],
        [scorerRef('second'), [[0.3, second], [2, second], null]],
      ],
    )
  })

  it('have an error for a column that is not valid, and the cells of the others', async () => {
    const project_id = someProject()
    const evaluations = evaluationsOf(service, project_id)
    const id = await evaluations.startRun()
    await evaluations.post(`evaluation_runs/${id}/finish`, { summary: { exact: { true_fraction: 1 } } })
    const invalid = [
      null,
      'odd',
      7,
      [],
      {},
      { ...columns[0], evaluation_object_ref: { ref: EVALUATION } },
      { ...columns[0], evaluation_object_ref: 'not a reference' },
      { ...columns[0], scorer_name: null },
      { ...columns[0], summary_metric_path: 'a.'.repeat(50_000) },
      { ...columns[0], should_minimize: 1 },
    ]
    await publish(project_id, { name: 7, description: [], columns: [...invalid, columns[0]] })
    const board = accepted(
      await service.post('/leaderboards/read', { project_id, object_id: 'board' }),
    ) as unknown as {
      name: string | null
      columns: readonly { error: string | null }[]
      models: readonly { cells: readonly ({ value: number } | null)[] }[]
    }
    assert.equal(board.name, null)
    assert.deepEqual(
      board.columns.map(({ error }) => error !== null && error !== ''),
      [...invalid.map(() => true), false],
    )
    assert.deepEqual(
      board.models.map(({ cells }) => cells.map((cell) => cell && cell.value)),
      [[...invalid.map(() => null), 1]],
    )
  })

  it('are a 422 where the columns are no list, or too many', async () => {
    const project_id = someProject()
    for (const wrong of ['odd', 7, null, {}, Array.from({ length: 10_000 }, () => columns[0])]) {
      await publish(project_id, { columns: wrong })
      const answer = await service.post('/leaderboards/read', { project_id, object_id: 'board' })
      assert.deepEqual(told(answer), ['value_error object_id'])
      assert.match(answer.text, /columns: /)
    }
  })

  it('have a row for each model with as many columns as are allowed, whatever the summaries are', async () => {
    const project_id = someProject()
    const evaluations = evaluationsOf(service, project_id)
    const many = Array.from({ length: 200 }, (_, index) => ({
      ...columns[0],
      evaluation_object_ref: scorerRef(`evaluation${index % 100}`),
      summary_metric_path: ['', '-', 'a.b', '0', '__proto__.x', 'constructor', 'length', '-1'][index % 8],
    }))
    await publish(project_id, { columns: many })
    for (const [index, exact] of [null, 1, 'text', [], [[1]], { a: [] }, { a: { b: {} } }].entries()) {
      const run = await evaluations.startRun({ evaluation: scorerRef(`evaluation${index}`) })
      await evaluations.post(`evaluation_runs/${run}/finish`, { summary: { exact } })
    }
    const { models } = accepted(
      await service.post('/leaderboards/read', { project_id, object_id: 'board' }),
    ) as unknown as { models: readonly { cells: readonly (object | null)[] }[] }
    assert.equal(models.length, 1)
    assert.equal(models[0]!.cells.filter((cell) => cell !== null).length, 14)
  })

  it('are not found where there is no object of this class', async () => {
    const project_id = someProject()
    const { objects } = service.in(project_id)
    await objects.create('other', { a: 1 }).json()
    await publish(project_id)
    await objects.delete({ object_id: 'board' }).json()
    for (const object_id of ['other', 'unknown', 'board'])
      reasonOf(await service.post('/leaderboards/read', { project_id, object_id }), 404)
  })
})
