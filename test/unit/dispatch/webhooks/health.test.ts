import assert from 'node:assert/strict'
import { healthOfWebhook } from '../../../../src/application/webhooks/current-state.js'
import { aliasAdded, COLLECTION, startDispatching, type Dispatching } from '../../../support/dispatching.js'
import { until } from '../../../support/until.js'
import { answers } from '../../../support/receivers/behaviours.js'
import { startReceiver, type Behaviour, type Receiver } from '../../../support/receivers/receiver.js'

const HOUR = { retry_waits_s: [3600] }

describe('the reported health of a webhook', () => {
  let log: Dispatching
  let receiver: Receiver
  beforeEach(async () => {
    log = await startDispatching()
  })
  afterEach(async () => {
    await log.stop(50)
    await receiver.stop()
  })
  const given = async (behaviour: Behaviour, messages: number) => {
    receiver = await startReceiver(behaviour)
    await log.addWebhook(receiver.url, HOUR)
    const dispatcher = await log.start()
    await dispatcher.caughtUp
    await log.append(COLLECTION, ...Array.from({ length: messages }, (_, n) => aliasAdded(`v-${n}`)))
    return dispatcher
  }
  const health = () => healthOfWebhook(log, 'w')
  const becomes = (state: string) => until(async () => (await health()).state === state, 15_000)
  const reports = async () => {
    let count = 0
    for await (const event of log.eventStore.readStream('webhook_health-w'))
      count += event.type === 'WebhookHealthChanged' ? 1 : 0
    return count
  }

  it('is open with the next probe after many failures, and healthy after a release', async () => {
    await given(answers(500), 12)
    await becomes('open')
    const open = await health()
    assert.ok(open.consecutive_failures >= 10 && open.next_probe_at !== null && open.failing_since !== null)
    assert.equal(open.last_error, 'status 500')
    receiver.behave(answers(200))
    await log.append('webhook-w', { type: 'WebhookReleased', data: { id: 'w', team: 'default' } })
    await becomes('healthy')
    assert.deepEqual([(await health()).last_error, (await health()).next_probe_at], [null, null])
  })

  it('is throttled until the time that the receiver asked for', async () => {
    await given(answers(429, { 'retry-after': '600' }), 1)
    await becomes('throttled')
    const left = Date.parse((await health()).throttled_until!) - Date.now()
    assert.ok(left > 500_000 && left <= 600_000, String(left))
  })

  it('keeps the count of failures over a restart, and reports nothing that is known', async () => {
    const dispatcher = await given(answers(500), 2)
    await becomes('failing')
    await dispatcher.stop()
    const before = await reports()
    const { caughtUp } = await log.start()
    await caughtUp
    await log.append(COLLECTION, aliasAdded('new'))
    await until(() => receiver.received.length === 3)
    await new Promise((resolve) => setTimeout(resolve, 2500))
    assert.ok((await reports()) - before <= 1)
    assert.ok((await health()).consecutive_failures >= 2)
  })

  it('is not written for a webhook whose receiver always works', async () => {
    await given(answers(200), 5)
    await until(() => receiver.received.length === 5)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    assert.equal(await reports(), 0)
  })
})
