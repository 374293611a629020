import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { accepted } from '../calls/given.js'
import { trainingClientOf } from './given.js'
import { md5, workerOf } from './worker.js'

const someProject = () => `team-${randomUUID().slice(0, 8)}/p`

describe('a worker', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const given = async () => {
    const base = `base-${randomUUID()}`
    const worker = workerOf(service, base)
    await worker.claim()
    const project = someProject()
    const client = trainingClientOf(service, project)
    const model = (await client.createModel('agent', base))['id'] as string
    return { base, worker, project, client, model }
  }

  it('claims a job, reports, stores a checkpoint, and completes the job once', async () => {
    const { worker, project, client, model } = await given()
    const groups = [{ trajectories: [{ reward: 1, tools: ['kept'] }] }]
    const job = await client.createRl(model, groups, { any: 'option' })
    const claimed = (await worker.claim())!
    assert.deepEqual(
      [claimed.id, claimed.step, claimed.from, claimed.config],
      [job, 1, null, { any: 'option' }],
    )
    assert.deepEqual(await (await fetch(claimed.input_url)).json(), groups)
    assert.equal(await worker.claim(), null)
    const held = worker.of(claimed)
    assert.equal((await held.heartbeat())['cancel'], false)
    const started = { type: 'training_started', num_sequences: 1 }
    const step = { type: 'gradient_step', metrics: { loss: 0.5 } }
    for (let n = 0; n < 2; n += 1) accepted(await held.reports(0, [started, step]))
    assert.equal((await held.reports(3, [step])).status, 409)
    assert.equal((await held.reports(2, [{ type: 'gradient_step', metrics: { loss: 'x' } }])).status, 422)
    assert.equal((await held.complete([{ path: 'adapter.bin', md5: md5('never stored') }])).status, 409)
    assert.deepEqual(await client.steps(model), [])
    const files = await held.upload({ 'adapter.bin': 'weights', 'config.json': '{}' })
    for (let n = 0; n < 2; n += 1) assert.deepEqual(accepted(await held.complete(files)), { step: 1 })
    assert.deepEqual(
      (await client.events(job)).map(({ type, data }) => [type, data]),
      [
        ['training_started', { num_sequences: 1 }],
        ['gradient_step', { loss: 0.5 }],
        ['training_ended', {}],
      ],
    )
    const version = accepted(await service.send('GET', `/api/artifacts/${project}/agent/versions/step1`))
    assert.deepEqual(
      [version['type'], version['aliases'], version['file_count']],
      ['lora', ['latest', 'step1'], 2],
    )

    await client.createRl(model, [])
    const next = (await worker.claim())!
    assert.deepEqual([next.step, next.from?.step], [2, 1])
    const [adapter] = next.from!.files
    assert.equal(await (await fetch(adapter!.url)).text(), 'weights')
    // Equal content is the same version, which keeps what another checkpoint needs.
    const same = worker.of(next)
    accepted(await same.complete(files))
    assert.deepEqual(await client.steps(model), [1, 2])
    accepted(await service.send('DELETE', `/v1/preview/models/${model}/checkpoints`, { steps: [1] }))
    const kept = accepted(await service.send('GET', `/api/artifacts/${project}/agent/versions/step2`))
    assert.deepEqual(kept['aliases'], ['latest', 'step2'])
  })

  it('that is late finds its lease gone, and changes nothing', async () => {
    const { worker, client, model } = await given()
    const job = await client.createRl(model, [])
    const held = worker.of((await worker.claim())!)
    accepted(await service.post(`/v1/preview/training-jobs/${job}/cancel`, {}))
    assert.equal((await held.heartbeat())['cancel'], true)
    assert.equal((await held.reports(0, [{ type: 'training_started' }])).status, 409)
    const files = [{ path: 'a', md5: md5('a') }]
    assert.equal((await held.files(files)).status, 409)
    assert.equal((await held.complete(files)).status, 409)
    accepted(await held.fail('too late'))
    assert.deepEqual(
      (await client.events(job)).map(({ type, data }) => [type, data]),
      [['training_failed', { error_message: 'The job was cancelled.' }]],
    )
    assert.deepEqual(await client.steps(model), [])
  })

  it('may have a key that is for nothing else', async () => {
    const name = { name: 'gpu', scope: 'training_worker' }
    const { api_key, scope } = accepted(await service.post('/api/users/me/api-keys', name))
    assert.equal(scope, 'training_worker')
    const key = api_key as string
    const { base, client, model } = await given()
    await client.createRl(model, [])
    const worker = workerOf(service, base, { key })
    const claimed = (await worker.claim())!
    const held = worker.of(claimed)
    accepted(await held.complete(await held.upload({ a: 'weights' })))
    assert.deepEqual(await client.steps(model), [1])

    const { paths } = accepted(await service.send('GET', '/openapi.json')) as unknown as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly security?: unknown }>>>>
    }
    const served: string[] = []
    for (const [path, operations] of Object.entries(paths))
      for (const [method, { security }] of Object.entries(operations)) {
        if (security !== undefined) continue
        const { status } = await service.send(method.toUpperCase(), path, undefined, { key })
        if (status !== 403) served.push(path.replace('/v1/preview', ''))
      }
    const of = (name: string) => `/training-jobs/{job_id}/${name}`
    assert.deepEqual(served.sort(), [
      of('complete'),
      of('fail'),
      of('files'),
      of('heartbeat'),
      of('reports'),
      '/workers/claim',
    ])
    assert.equal((await service.post('/api/sessions', { api_key: key })).status, 403)
  })

  it('names the files of a checkpoint by relative paths, each once', async () => {
    const { worker, client, model } = await given()
    await client.createRl(model, [])
    const held = worker.of((await worker.claim())!)
    const file = (path: string) => ({ path, md5: md5(path) })
    for (const path of [
      '',
      '/a',
      'a//b',
      'a/',
      '.',
      '..',
      'a/../b',
      '../a',
      'a\\b',
      'C:a',
      'a\nb',
      'a\u0001',
    ])
      for (const send of [held.files, held.complete])
        assert.equal((await send([file(path)])).status, 422, JSON.stringify(path))
    assert.equal((await held.files([file('a'), file('a')])).status, 422)
    accepted(await held.files([file('a'), file('.a/..b/c.d')]))
  })

  it('that waits gets a job as soon as there is one, and jobs of a model one after another', async () => {
    const { worker, client, model } = await given()
    const waiting = worker.claim(20)
    const [first, second] = [await client.createRl(model, []), await client.createRl(model, [])]
    const claimed = (await waiting)!
    assert.equal(claimed.id, first)
    assert.equal(await worker.claim(), null)
    const place = await client.get(`/training-jobs/${second}`)
    assert.deepEqual([place['state'], place['queue_position']], ['queued', 0])
    accepted(await worker.of(claimed).fail('out of memory'))
    assert.equal((await worker.claim(5))?.id, second)
    assert.deepEqual((await client.get(`/training-jobs/${first}`))['error_message'], 'out of memory')
  })
})
