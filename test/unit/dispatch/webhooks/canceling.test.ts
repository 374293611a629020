import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { systemIds } from '../../../../src/adapters/system/system.js'
import { canceling } from '../../../../src/dispatch/webhooks/canceling.js'

describe('what waits for a webhook that was deleted', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())

  it('is asked for once where there is nothing', async () => {
    let woken = 0
    const ports = { eventStore: openInMemoryEventStore(), ids: systemIds }
    const cancelAll = canceling(ports, { deliveriesOf: () => [] }, () => void (woken += 1))
    cancelAll('w')
    await new Promise((resolve) => setImmediate(resolve))
    mock.timers.tick(10_000)
    assert.equal(woken, 0)
  })
})
