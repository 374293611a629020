import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { until } from '../../support/until.js'
import { accepted } from '../calls/given.js'
import { memberOf } from '../graphql/given.js'
import { sharedService } from '../shared-service.js'
import { trainingClientOf } from '../training/given.js'
import { workerOf } from '../training/worker.js'

describe('the training of a project, for the pages', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  const given = async () => {
    const { teams, options } = await memberOf(service, 'pages')
    const project = `${teams[0]!}/p`
    const base = `base-${randomUUID()}`
    const worker = workerOf(service, base)
    await worker.claim()
    const client = trainingClientOf(service, project, options)
    const ask = (path: string, query: string) =>
      service.send('GET', `/api/pages/training/${path}?project_id=${project}${query}`, undefined, options)
    const get = async (path: string, query = '') => accepted(await ask(path, query))
    return { project, base, worker, client, ask, get, options }
  }

  it('lists models by name in pages, with the job that runs', async () => {
    const { base, worker, client, get } = await given()
    assert.deepEqual(await get('models'), { data: [], next: null })
    const model = (await client.createModel('a', base))['id'] as string
    for (const name of ['b', 'c']) await client.createModel(name, base)
    for (let n = 0; n < 2; n++) await client.createRl(model, [])
    const claimed = (await worker.claim())!
    const started = { type: 'training_started', num_sequences: 3 }
    accepted(await worker.of(claimed).reports(0, [started, { type: 'gradient_step', metrics: { loss: 1 } }]))
    await until(async () => ((await get('models'))['data'] as object[]).length === 3)
    const first = await get('models', '&limit=2')
    const [row] = first['data'] as unknown as readonly JsonObject[]
    assert.deepEqual(
      [row!['name'], row!['base_model'], row!['newest_step'], row!['jobs_queued']],
      ['a', base, null, 1],
    )
    assert.equal((row!['job'] as JsonObject)['state'], 'running')
    assert.equal(typeof row!['last_event_at'], 'string')
    assert.equal(first['next'], 'b')
    const rest = await get('models', '&limit=2&after=b')
    assert.deepEqual([(rest['data'] as object[]).length, rest['next']], [1, null])
  })

  it('lists the jobs of a model newest first, and reads one with its configuration', async () => {
    const { base, worker, client, ask, get } = await given()
    const model = (await client.createModel('a', base))['id'] as string
    const jobs: string[] = []
    for (let n = 0; n < 3; n++) jobs.push(await client.createRl(model, [], { n }))
    const claimed = (await worker.claim())!
    const held = worker.of(claimed)
    const steps = Array.from({ length: 2 }, () => ({ type: 'gradient_step', metrics: { loss: 1 } }))
    accepted(await held.reports(0, [{ type: 'training_started', num_sequences: 3 }, ...steps]))
    const idsIn = (page: JsonObject) =>
      (page['data'] as unknown as readonly { id: string }[]).map(({ id }) => id)
    const first = await get('jobs', '&model=a&limit=2')
    assert.deepEqual([idsIn(first), first['next']], [[jobs[2], jobs[1]], jobs[1]])
    const rest = await get('jobs', `&model=a&after=${jobs[1]}`)
    assert.deepEqual([idsIn(rest), rest['next']], [[jobs[0]], null])
    const running = await get('job', `&job_id=${jobs[0]}`)
    assert.deepEqual(
      [running['state'], running['gradient_steps'], running['expected_steps'], running['config']],
      ['running', 2, 3, { n: 0 }],
    )
    assert.match(running['worker'] as string, /worker$/)
    assert.deepEqual((await get('job', `&job_id=${jobs[2]}`))['before'], 2)
    accepted(await held.complete(await held.upload({ 'adapter.bin': 'weights' }), { loss: 0.5 }))
    const after = (await get('jobs', '&model=a'))['model'] as JsonObject
    assert.equal(after['newest_step'], 1)
    for (const [path, query] of [
      ['jobs', '&model=none'],
      ['jobs', `&model=a&after=${randomUUID()}`],
      ['job', `&job_id=${randomUUID()}`],
    ] as const)
      assert.equal((await ask(path, query)).status, 404)
    assert.equal((await ask('jobs', '&model=a&limit=101')).status, 422)
  })

  it('answers about a job of another project or team as about none', async () => {
    const [mine, theirs] = [await given(), await given()]
    const model = (await theirs.client.createModel('a', theirs.base))['id'] as string
    const job = await theirs.client.createRl(model, [])
    const answer = async (id: string, project: string) => {
      const path = `/api/pages/training/job?project_id=${project}&job_id=${id}`
      const { status, text } = await service.send('GET', path, undefined, mine.options)
      return { status, text }
    }
    for (const project of [mine.project, theirs.project]) {
      const found = await answer(job, project)
      assert.equal(found.status, 404)
      assert.deepEqual(found, await answer(randomUUID(), project))
    }
  })
})
