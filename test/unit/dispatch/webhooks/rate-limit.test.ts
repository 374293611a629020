import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { aliasAdded, COLLECTION, startDispatching, type Dispatching } from '../../../support/dispatching.js'
import { until } from '../../../support/until.js'
import { answers } from '../../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../../support/receivers/receiver.js'

describe('a webhook with a rate limit', () => {
  let log: Dispatching
  let receiver: Receiver
  beforeEach(async () => {
    log = await startDispatching()
    receiver = await startReceiver(answers(200))
  })
  afterEach(async () => {
    await log.stop(50)
    await receiver.stop()
  })
  const started = async (content: Readonly<Record<string, unknown>>) => {
    await log.addWebhook(receiver.url, content)
    await (
      await log.start()
    ).caughtUp
  }
  const arrived = () =>
    receiver.received.map(({ body }) => (JSON.parse(body.toString()) as { alias: string }).alias)
  const messages = (count: number) => Array.from({ length: count }, (_, n) => aliasAdded(`v-${n}`))

  it('gets messages in order, no faster than allowed, and none of them fails', async () => {
    await started({ max_per_minute: 600 })
    const began = performance.now()
    await log.append(COLLECTION, ...messages(8))
    await until(() => receiver.received.length === 8)
    assert.ok(performance.now() - began >= 700, String(performance.now() - began))
    assert.deepEqual(
      arrived(),
      Array.from({ length: 8 }, (_, n) => `v-${n}`),
    )
    const ends = async () => (await log.deliveryEvents()).filter(({ type }) => type === 'AttemptFinished')
    await until(async () => (await ends()).length === 8)
    assert.ok((await ends()).every(({ data }) => data['outcome'] === 'succeeded'))
  })

  it('gets no more when it is released', async () => {
    await started({ max_per_minute: 1 })
    await log.append(COLLECTION, ...messages(3))
    await until(() => receiver.received.length === 1)
    await log.append('webhook-w', { type: 'WebhookReleased', data: { id: 'w', team: 'default' } })
    await sleep(300)
    assert.equal(receiver.received.length, 1)
  })

  it('gets the waiting messages at once when the limit is removed', async () => {
    await started({ max_per_minute: 1 })
    await log.append(COLLECTION, ...messages(3))
    await until(() => receiver.received.length === 1)
    const content = { name: 'w', url: receiver.url }
    await log.append('webhook-w', {
      type: 'WebhookChanged',
      data: { id: 'w', team: 'default', ...content, max_per_minute: null },
    })
    await until(() => receiver.received.length === 3)
  })
})
