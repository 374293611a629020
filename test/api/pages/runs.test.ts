import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'
import { sharedService, someProject } from '../shared-service.js'
import { clientOf } from '../wandb/given.js'

const STEPS = 20_000
const SPIKE = 12_345

describe('the runs of a project, for the pages', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const given = async () => {
    const project = someProject()
    const client = clientOf(service, project)
    const post = (path: string, body: object) =>
      service.post(`/api/pages/${path}`, { project_id: project, ...body })
    const logged = async (
      run: string,
      rows: readonly JsonObject[],
      config: JsonObject = {},
      summary = '{}',
    ) => {
      await client.init(run, { displayName: run, config: JSON.stringify(config) })
      await client.log(
        run,
        0,
        rows.map((row) => JSON.stringify(row)),
      )
      const files = { 'wandb-summary.json': { offset: 0, content: [summary] } }
      accepted(await client.stream(run, { files, complete: true, exitcode: 0 }))
    }
    return { post, logged }
  }

  it('are listed with values of their configuration and summary', async () => {
    const { post, logged } = await given()
    await logged(
      'one',
      [],
      { lr: { value: 0.1, desc: null }, net: { value: { layers: [1, 2] } } },
      '{"loss":0.5}',
    )
    await logged('two', [], { lr: { value: 0.2 }, _wandb: { value: {} } }, '{"loss":"NaN","best":{"loss":1}}')
    const columns = ['config.lr', 'summary.loss', 'config.net.layers', 'config.none']
    const { data, names, next } = accepted(await post('runs', { columns }))
    const rows = data as readonly JsonObject[]
    assert.deepEqual(
      rows.map(({ id, state, values }) => [id, state, values]),
      [
        ['two', 'finished', [0.2, 'NaN', null, null]],
        ['one', 'finished', [0.1, 0.5, [1, 2], null]],
      ],
    )
    assert.deepEqual(names, ['config.lr', 'config.net.layers', 'summary.best.loss', 'summary.loss'])
    assert.equal(next, null)
    const second = accepted(await post('runs', { limit: 1, offset: 1, order: '-created_at' }))
    assert.deepEqual([(second['data'] as JsonObject[])[0]!['id'], second['next']], ['one', null])
  })

  it('have metrics in which the spike of one step is seen', async () => {
    const { post, logged } = await given()
    const rows = Array.from({ length: STEPS }, (_, n) => ({
      loss: n === SPIKE ? 1000 : 1,
      odd: n % 2 === 0 ? 'NaN' : n,
      _step: n,
      _timestamp: 1.79e9 + n,
    }))
    await logged('long', rows)
    await logged('short', [{ other: 1, _step: 0 }])
    const runs = ['long', 'short']
    const { names } = accepted(await post('metric-names', { runs }))
    assert.deepEqual(
      (names as readonly JsonObject[]).filter(({ name }) => !/^_/.test(name as string)),
      [
        { name: 'loss', type: 'number', runs: 1 },
        { name: 'odd', type: 'number', runs: 1 },
        { name: 'other', type: 'number', runs: 1 },
      ],
    )
    const read = async (more: object = {}) => {
      const answer = accepted(await post('metrics', { runs, keys: ['loss', 'odd'], ...more }))
      return (answer['runs'] as unknown as readonly { id: string; metrics: readonly Metric[] }[]).map(
        (run) => run.metrics,
      )
    }
    const [[loss, odd], [none]] = (await read()) as [[Metric, Metric], [Metric]]
    assert.ok(loss.steps.length <= 500 && loss.values.includes(1000), String(loss.steps.length))
    assert.equal(loss.steps[loss.values.indexOf(1000)], SPIKE)
    assert.equal(loss.times[0], 1.79e9)
    assert.ok(odd.values.every((value, at) => value === null || value === odd.steps[at]))
    assert.deepEqual(none.values, [])
    const [[part]] = (await read({ min_step: SPIKE, max_step: SPIKE + 2 })) as [[Metric]]
    assert.deepEqual(
      [part.steps, part.values],
      [
        [SPIKE, SPIKE + 1],
        [1000, 1],
      ],
    )
  })

  it('are refused beyond their bounds, by name', async () => {
    const { post, logged } = await given()
    await logged('one', [])
    const many = (most: number) => Array.from({ length: most + 1 }, (_, n) => `r${n}`)
    for (const [path, body, field] of [
      ['runs', { columns: many(50) }, 'columns'],
      ['runs', { limit: 201 }, 'limit'],
      ['runs', { order: 7 }, 'order'],
      ['metrics', { runs: many(10), keys: [] }, 'runs'],
      ['metrics', { runs: ['one'], keys: many(50) }, 'keys'],
      ['metrics', { runs: ['one'], keys: ['a'], points: 1 }, 'points'],
      ['metric-names', { runs: many(10) }, 'runs'],
    ] as const) {
      const { status, text } = await post(path, body)
      assert.equal(status, 422, text)
      assert.ok(text.includes(`"${field}"`), text)
    }
    assert.equal((await post('metrics', { runs: ['none'], keys: ['a'] })).status, 404)
    assert.equal((await post('metric-names', { runs: ['none'] })).status, 404)
  })
})

interface Metric {
  readonly steps: readonly number[]
  readonly times: readonly (number | null)[]
  readonly values: readonly (number | null)[]
}
