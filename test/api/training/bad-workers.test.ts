import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { accepted } from '../calls/given.js'
import { memberOf } from '../graphql/given.js'
import { put } from '../wandb/given.js'
import { trainingClientOf } from './given.js'
import { md5, workerOf } from './worker.js'

const STARTED = { type: 'training_started', num_sequences: 1 }
const step = (loss: unknown) => ({ type: 'gradient_step', metrics: { loss } })

describe('a bad worker', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  /** A job that a worker has. */
  const given = async () => {
    const base = `base-${randomUUID()}`
    const worker = workerOf(service, base)
    await worker.claim()
    const project = `team-${randomUUID().slice(0, 8)}/p`
    const client = trainingClientOf(service, project)
    const model = (await client.createModel('agent', base))['id'] as string
    const job = await client.createRl(model, [])
    const claimed = (await worker.claim())!
    const types = async () => (await client.events(job)).map(({ type }) => type)
    return { worker, client, project, model, job, claimed, held: worker.of(claimed), types }
  }

  const post = (path: string, body: unknown) => service.post(`/v1/preview${path}`, body)
  const claim = (worker: string, base_models: readonly string[]) =>
    post('/workers/claim', { worker, base_models })

  const assertConflicts = async (
    held: ReturnType<ReturnType<typeof workerOf>['of']>,
    files: readonly { readonly path: string; readonly md5: string }[],
  ) => {
    for (const answer of [
      held.reports(0, [STARTED]),
      held.files(files),
      held.complete(files),
      held.fail('x'),
    ])
      assert.equal((await answer).status, 409)
  }

  it('that reports what are no finite numbers is refused, and nothing of the batch is logged', async () => {
    const { held, job, claimed, types } = await given()
    for (const loss of ['NaN', 'x', null, true, [1], { a: 1 }])
      assert.equal((await held.reports(0, [STARTED, step(loss)])).status, 422, JSON.stringify(loss))
    for (const loss of ['NaN', 'Infinity', '-Infinity', '1e999']) {
      const report = `{"type":"gradient_step","metrics":{"loss":${loss}}}`
      const body = `{"lease_id":"${claimed.lease_id}","first":0,"reports":[${JSON.stringify(STARTED)},${report}]}`
      assert.equal((await post(`/training-jobs/${job}/reports`, body)).status, 422, loss)
      const completion = `{"lease_id":"${claimed.lease_id}","files":[{"path":"a","md5":"${md5('a')}"}],"metrics":{"loss":${loss}}}`
      assert.equal((await post(`/training-jobs/${job}/complete`, completion)).status, 422, loss)
    }
    assert.deepEqual(await types(), [])
  })

  it('that leaves a gap, starts late or starts twice is refused', async () => {
    const { held, types } = await given()
    assert.equal((await held.reports(1, [step(1)])).status, 409)
    assert.equal((await held.reports(0, [step(1)])).status, 422)
    assert.equal((await held.reports(0, [STARTED, STARTED])).status, 422)
    assert.equal((await held.reports(-1, [STARTED])).status, 422)
    accepted(await held.reports(0, [STARTED]))
    for (const first of [2, Number.MAX_SAFE_INTEGER])
      assert.equal((await held.reports(first, [step(1)])).status, 409)
    assert.deepEqual(await types(), ['training_started'])
  })

  it('that sends too much at once is refused', async () => {
    const { held, types } = await given()
    const many = Array.from({ length: 1000 }, () => step(1))
    assert.equal((await held.reports(0, [STARTED, ...many])).status, 413)
    const named = (name: string) => ({ type: 'gradient_step', metrics: { [name]: 1 } })
    assert.equal((await held.reports(0, [STARTED, named('x'.repeat(100_000_000))])).status, 413)
    assert.equal((await held.reports(0, [STARTED, named('x'.repeat(20_000_000))])).status, 422)
    assert.equal((await held.reports(0, [STARTED, named('x'.repeat(257))])).status, 422)
    const wide = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`m${at}`, at]))
    assert.equal((await held.reports(0, [STARTED, { type: 'gradient_step', metrics: wide }])).status, 422)
    assert.equal((await held.complete([{ path: 'a', md5: md5('a') }], wide)).status, 422)
    assert.equal((await held.fail('x'.repeat(16_385))).status, 422)
    const files = Array.from({ length: 1001 }, (_, at) => ({ path: `f${at}`, md5: md5('a') }))
    assert.equal((await held.files(files)).status, 413)
    assert.deepEqual(await types(), [])
    // As much as is allowed.
    accepted(await held.reports(0, [STARTED, ...many.slice(1)]))
    assert.equal((await types()).length, 1000)
  })

  it('that registers for too many base models is refused', async () => {
    const many = Array.from({ length: 1001 }, (_, at) => `base-${at}`)
    assert.equal((await claim('w', many)).status, 413)
    assert.equal((await claim('w', [])).status, 422)
    assert.equal((await claim('w', ['x'.repeat(257)])).status, 422)
    assert.equal((await claim('x'.repeat(129), ['base'])).status, 422)
  })

  it('cannot register for base models that the service trains, nor under names that break lines', async () => {
    for (const own of ['tiny/byte', 'tiny/byte-large', 'tiny/byte-2k']) {
      const { status, text } = await claim('w', ['mine', own])
      assert.equal(status, 422, text)
      assert.ok(text.includes(`The service itself trains ${own}`), text)
    }
    for (const name of ['a\n<b>', 'a b', '', '\u0007', '<b>', '"a"', 'a\u202eb'])
      assert.equal((await claim('w', [name])).status, 422, JSON.stringify(name))
    for (const name of ['a\nb', '\u001b[31m', '<b>', ''])
      assert.equal((await claim(name, ['base'])).status, 422, JSON.stringify(name))
    for (const name of ['Qwen/Qwen3-14B', 'a:b@c+d_e.f', 'modèle'])
      assert.equal((await claim('worker of mine', [name])).status, 200, name)
  })

  it('cannot write to a job that the service trains', async () => {
    const project = `team-${randomUUID().slice(0, 8)}/p`
    const client = trainingClientOf(service, project)
    const model = (await client.createModel('agent'))['id'] as string
    const job = await client.createRl(model, [])
    const held = workerOf(service, 'x').of({ id: job, lease_id: randomUUID() })
    const files = [{ path: 'checkpoint.bin', md5: md5('garbage') }]
    await assertConflicts(held, files)
    assert.equal((await client.ended(job)).at(-1)!.type, 'training_ended')
    assert.equal((await held.fail('x')).status, 409)
  })

  it('gives a reason for a failure, or it is said that there is none', async () => {
    for (const reason of ['', ' \n']) {
      const { held, client, job } = await given()
      accepted(await held.fail(reason))
      assert.equal((await client.get(`/training-jobs/${job}`))['error_message'], 'The worker gave no reason.')
    }
  })

  it('cannot complete a job with files that were never stored, or differ from their MD5', async () => {
    const { held, client, model, types } = await given()
    const file = { path: 'weights', md5: md5('weights') }
    const [link] = accepted(await held.files([file]))['files'] as unknown as { upload_url: string }[]
    assert.equal((await held.complete([file])).status, 409)
    assert.equal((await put(link!.upload_url, 'other weights')).status, 400)
    assert.equal((await held.complete([file])).status, 409)
    assert.equal((await fetch(link!.upload_url)).status, 403)
    assert.equal((await put(`${link!.upload_url.slice(0, -2)}xx`, 'weights')).status, 403)
    assert.deepEqual([await types(), await client.steps(model)], [[], []])
    assert.equal((await put(link!.upload_url, 'weights')).status, 200)
    accepted(await held.complete([file]))
    assert.deepEqual(await types(), ['training_started', 'training_ended'])
  })

  it('has no effect on a job that it did not claim', async () => {
    const [mine, other] = [await given(), await given()]
    const files = [{ path: 'a', md5: md5('a') }]
    const own = mine.worker.of({ id: mine.job, lease_id: other.claimed.lease_id })
    const theirs = mine.worker.of({ id: other.job, lease_id: mine.claimed.lease_id })
    for (const held of [own, theirs, mine.worker.of({ id: mine.job, lease_id: '' })]) {
      assert.equal((await held.heartbeat())['cancel'], true)
      await assertConflicts(held, files)
    }
    const member = await memberOf(service, 'other')
    for (const action of ['heartbeat', 'reports', 'files', 'complete', 'fail']) {
      const body = { lease_id: mine.claimed.lease_id, first: 0, reports: [], files, error_message: 'x' }
      const needed = { heartbeat: [], reports: ['first', 'reports'], fail: ['error_message'] }[action] ?? [
        'files',
      ]
      const sent = Object.fromEntries(['lease_id', ...needed].map((name) => [name, body[name as 'first']]))
      const path = `/v1/preview/training-jobs/${mine.job}/${action}`
      assert.equal((await service.post(path, sent, member.options)).status, 404, action)
    }
    assert.deepEqual([await mine.types(), await other.types()], [[], []])
    assert.equal((await mine.held.heartbeat())['cancel'], false)
  })

  it('cannot use its lease for another job of the model', async () => {
    const { worker, client, model, claimed, held, types } = await given()
    accepted(await held.fail('first'))
    const second = await client.createRl(model, [])
    const next = (await worker.claim())!
    assert.equal(next.id, second)
    const mixed = worker.of({ id: claimed.id, lease_id: next.lease_id })
    const files = [{ path: 'a', md5: md5('a') }]
    assert.equal((await mixed.heartbeat())['cancel'], true)
    for (const answer of [mixed.reports(0, [STARTED]), mixed.files(files), mixed.complete(files)])
      assert.equal((await answer).status, 409)
    assert.deepEqual(await types(), ['training_failed'])
  })

  it('cannot fail or complete an ended job with a lease that the job did not end with', async () => {
    const [failed, completed, cancelled] = [await given(), await given(), await given()]
    const files = await completed.held.upload({ w: 'weights' })
    accepted(await failed.held.fail('broken'))
    accepted(await completed.held.complete(files))
    accepted(await service.post(`/v1/preview/training-jobs/${cancelled.job}/cancel`, {}))
    for (const { worker, held, job, types } of [failed, completed, cancelled]) {
      const before = await types()
      for (const lease_id of ['', 'any', failed.claimed.lease_id, completed.claimed.lease_id]) {
        const stale = worker.of({ id: job, lease_id })
        const isOwn = (job === failed.job ? failed : completed).claimed.lease_id === lease_id
        if (isOwn && job !== cancelled.job) continue
        assert.equal((await stale.fail('late')).status, 409)
        assert.equal((await stale.complete(files)).status, 409)
      }
      const repeated = job === completed.job ? held.complete(files) : held.fail('broken')
      assert.equal((await repeated).status, 200)
      assert.deepEqual(await types(), before)
    }
  })

  it('with a twin of the same lease doubles nothing, and the job ends once', async () => {
    const { client, project, model, held, claimed, worker, job } = await given()
    const twin = worker.of(claimed)
    const steps = Array.from({ length: 50 }, (_, at) => step(at))
    for (let first = 0; first < 50; first += 10) {
      const batch = first === 0 ? [STARTED, ...steps.slice(0, 10)] : steps.slice(first, first + 10)
      const from = first === 0 ? 0 : first + 1
      const sent = await Promise.all([held, twin, held].map((one) => one.reports(from, batch)))
      assert.deepEqual(
        sent.map(({ status }) => status),
        [200, 200, 200],
      )
    }
    const [some, others] = [await held.upload({ w: 'one' }), await twin.upload({ w: 'two' })]
    const ends = await Promise.all([
      ...[held.complete(some), twin.complete(others), held.complete(some), twin.complete(others)],
    ])
    assert.deepEqual(
      ends.map(({ status }) => status),
      [200, 200, 200, 200],
    )
    const events = await client.events(job)
    assert.deepEqual(
      events.map(({ type, data }) => data['loss'] ?? type),
      ['training_started', ...steps.map((_, at) => at), 'training_ended'],
    )
    const { data } = await client.get(`/models/${model}/checkpoints`)
    assert.equal((data as readonly unknown[]).length, 1)
    const versions = accepted(await service.send('GET', `/api/artifacts/${project}/agent/versions`))
    assert.equal((versions['data'] as readonly unknown[]).length, 1, JSON.stringify(versions))
  })

  it('with a twin that fails the job ends it once', async () => {
    const { held, claimed, worker, types, client, model } = await given()
    const files = await held.upload({ w: 'one' })
    const twin = worker.of(claimed)
    const ends = await Promise.all([held.complete(files), twin.fail('broken')])
    const isCompleted = (await types()).includes('training_ended')
    assert.deepEqual(
      ends.map(({ status }) => status),
      isCompleted ? [200, 409] : [409, 200],
    )
    assert.equal((await types()).filter((type) => type !== 'training_started').length, 1)
    assert.equal((await client.steps(model)).length, isCompleted ? 1 : 0)
  })
})
