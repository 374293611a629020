import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { SendOptions } from '../../support/client.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { logRun } from './logged-run.js'

const ROWS = [{ user_input: 'a' }, { user_input: 'b' }, { user_input: 'c' }]
const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()

describe('the status of an evaluation run', () => {
  let service: TestService
  let project: string
  let evaluation: string

  before(async () => {
    service = await sharedService()
    project = someProject()
    const table = await service.in(project).tables.create(ROWS)
    const { digest } = table.json<{ digest: string }>()
    const { objects } = service.in(project)
    const dataset = await objects.publish('rows', {
      _type: 'Dataset',
      rows: `weave:///${project}/table/${digest}`,
    })
    evaluation = await objects.publish('letters', { _type: 'Evaluation', dataset, scorers: [] })
  })

  const ask = (call_id: string, options?: SendOptions) =>
    service.in(project).with(options).evaluations.status({ call_id })
  const status = async (call_id: string, options?: SendOptions) =>
    (await ask(call_id, options)).json<{ status: JsonObject }>().status

  const start = (id: string, fields: JsonObject) =>
    service.in(project).calls.start({ id, started_at: at(0), ...fields })
  const end = (id: string, fields: JsonObject = {}) =>
    service.in(project).calls.end(id, { ended_at: at(9), output: null, ...fields })
  const startRun = async (self: string = evaluation) => {
    const id = randomUUID()
    await start(id, {
      trace_id: id,
      op_name: `weave:///${project}/op/Evaluation.evaluate:1`,
      inputs: { self },
    })
    return id
  }
  const startRow = async (run: string, op = 'Evaluation.predict_and_score') => {
    const id = randomUUID()
    const op_name = `weave:///${project}/op/${op}:1`
    await start(id, { trace_id: run, parent_id: run, op_name, inputs: { self: evaluation } })
    return id
  }

  it('is not_found for a call that does not exist', async () => {
    assert.deepEqual(await status('unknown'), { code: 'not_found' })
  })

  it('is running with the progress of a run that a client logs', async () => {
    const run = await startRun()
    assert.deepEqual(await status(run), { code: 'running', completed_rows: 0, total_rows: 3 })
    const rows = [await startRow(run), await startRow(run, 'Evaluation.predictAndScore')]
    assert.deepEqual(await status(run), { code: 'running', completed_rows: 0, total_rows: 3 })
    for (const [index, row] of rows.entries()) {
      await end(row, index === 0 ? { exception: 'no answer' } : {})
      assert.deepEqual(await status(run), { code: 'running', completed_rows: index + 1, total_rows: 3 })
    }
  })

  it('has the completed rows as total when the dataset cannot be found', async () => {
    const run = await startRun(`weave:///${project}/object/none:1`)
    await end(await startRow(run))
    assert.deepEqual(await status(run), { code: 'running', completed_rows: 1, total_rows: 1 })
  })

  it('is failed with the error', async () => {
    const run = await startRun()
    await end(run, { exception: 'ValueError: no model' })
    assert.deepEqual(await status(run), { code: 'failed', error: 'ValueError: no model' })
  })

  it('is complete with the output', async () => {
    const run = await startRun()
    await end(run, { output: { exact: { true_count: 3 } } })
    assert.deepEqual(await status(run), {
      code: 'complete',
      output: { exact: { true_count: 3 } },
      warnings: [],
    })
  })

  it('is what it was at an earlier position', async () => {
    const run = randomUUID()
    const before = (await service.in(project).calls.query()).headers.get('tallytree-position')
    await start(run, { trace_id: run, op_name: 'Evaluation.evaluate', inputs: { self: evaluation } })
    const running = (await ask(run)).headers.get('tallytree-position')
    await end(run, { output: 1 })
    const asOf = (position: string | null) => ({ headers: { 'tallytree-as-of': position! } })
    assert.equal((await status(run))['code'], 'complete')
    assert.deepEqual(await status(run, asOf(running)), { code: 'running', completed_rows: 0, total_rows: 3 })
    assert.deepEqual(await status(run, asOf(before)), { code: 'not_found' })
  })

  it('is refused for a call that is not an evaluation run', async () => {
    const row = await startRow(await startRun())
    const answer = await ask(row)
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.text, /not an evaluation/)
  })

  it('is not_found for a run of another project', async () => {
    const { id } = await logRun(service, someProject(), [])
    assert.deepEqual(await status(id), { code: 'not_found' })
  })

  it('is refused with the field that is not valid', async () => {
    for (const [body, field] of [
      [{ project_id: project, call_id: 'a', more: 1 }, 'more'],
      [{ project_id: project }, 'call_id'],
      [{ project_id: project, call_id: 7 }, 'call_id'],
      [{ project_id: project, call_id: null }, 'call_id'],
      [{ project_id: project, call_id: 'a'.repeat(100_000) }, 'call_id'],
    ] as const)
      for (const path of ['/evaluations/status', '/evaluations/cancel']) {
        const answer = await service.post(path, body)
        assert.equal(answer.status, 422, answer.text)
        const { detail } = answer.json<{ detail: { loc: string[] }[] }>()
        assert.deepEqual(detail[0]!.loc, ['body', field])
      }
  })
})
