import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { startTestService, type TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'

describe('what a load balancer asks', () => {
  let service: TestService
  before(async () => void (service = await startTestService()))
  after(() => service.stop())

  for (const path of ['/health/live', '/health/ready'])
    it(`${path} answers without a key`, async () => {
      const ask = () => service.send('GET', path, undefined, { key: null })
      while ((await ask()).status === 503) await sleep(50)
      assert.deepEqual(accepted(await ask()), { status: 'ok' })
    })
})
