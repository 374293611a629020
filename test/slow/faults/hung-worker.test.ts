import assert from 'node:assert/strict'
import { accepted } from '../../api/calls/given.js'
import { trainingClientOf } from '../../api/training/given.js'
import { md5, workerOf } from '../../api/training/worker.js'
import { startTestService, type TestService } from '../../support/service.js'

const BASE = 'base'
const STARTED = { type: 'training_started', num_sequences: 2 }
const step = (loss: number) => ({ type: 'gradient_step', metrics: { loss } })

/** Longer than the lease of a minute, and the time that a service has after its start. */
const WAIT_S = 30
const CLAIMS = 4

describe('a worker that hangs', function () {
  this.timeout(300_000)
  let service: TestService
  before(async () => {
    service = await startTestService()
  })
  after(() => service.stop())

  it('loses its job to the next worker, and changes nothing when it is late', async () => {
    const [hung, next] = [
      workerOf(service, BASE, { name: 'hung' }),
      workerOf(service, BASE, { name: 'next' }),
    ]
    await hung.claim()
    const client = trainingClientOf(service, 'team/p')
    const model = (await client.createModel('agent', BASE))['id'] as string
    const job = await client.createRl(model, [])
    const first = (await hung.claim())!
    const late = hung.of(first)
    accepted(await late.reports(0, [STARTED, step(3)]))
    const files = await late.upload({ weights: 'late' })

    const since = performance.now()
    let second = null
    for (let claims = 0; claims < CLAIMS && second === null; claims += 1) second = await next.claim(WAIT_S)
    const seconds = (performance.now() - since) / 1000
    assert.ok(seconds > 55 && seconds < 70, `the lease expired after ${seconds} s`)
    assert.equal(second?.id, job)
    assert.notEqual(second.lease_id, first.lease_id)

    const lateIsRefused = async () => {
      assert.equal((await late.heartbeat())['cancel'], true)
      for (const answer of [
        late.reports(2, [step(2)]),
        late.files([{ path: 'a', md5: md5('a') }]),
        late.complete(files),
      ])
        assert.equal((await answer).status, 409)
    }
    await lateIsRefused()
    assert.equal((await late.fail('late')).status, 409)
    const held = next.of(second)
    assert.equal((await held.heartbeat())['cancel'], false)
    // The next worker begins again, and sends all reports.
    accepted(await held.reports(0, [STARTED, step(3), step(1)]))
    await lateIsRefused()
    accepted(await held.complete(await held.upload({ weights: 'next' })))
    assert.equal((await late.heartbeat())['cancel'], true)
    assert.equal((await late.reports(2, [step(2)])).status, 409)
    assert.equal((await late.fail('late')).status, 409)

    assert.deepEqual(
      (await client.events(job)).map(({ type, data }) => data['loss'] ?? type),
      ['training_started', 3, 1, 'training_ended'],
    )
    assert.deepEqual(await client.steps(model), [1])
    await client.createRl(model, [])
    const [file] = (await next.claim())!.from!.files
    assert.equal(await (await fetch(file!.url)).text(), 'next')
  })
})
