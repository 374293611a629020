import assert from 'node:assert/strict'
import { aliasAdded, COLLECTION, startDispatching, type Dispatching } from '../../../support/dispatching.js'
import { until } from '../../../support/until.js'
import { answers } from '../../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../../support/receivers/receiver.js'

describe('what a receiver asks for', () => {
  let log: Dispatching
  let receiver: Receiver
  beforeEach(async () => {
    log = await startDispatching()
  })
  afterEach(async () => {
    await log.stop()
    await receiver.stop()
  })

  const answered = async (status: number, word: string) => {
    receiver = await startReceiver(answers(status, { 'webhook-delivery': word }))
    await log.addWebhook(receiver.url, { retry_waits_s: [0.05] })
    const { caughtUp } = await log.start()
    await caughtUp
    await log.append(COLLECTION, aliasAdded('one'))
    await until(async () => (await log.deliveryEvents()).some(({ type }) => type === 'AttemptFinished'))
    const { outcome, reason } = (await log.deliveryEvents()).at(-1)!.data
    return [outcome, reason]
  }
  const reasons = async () => {
    const found: unknown[] = []
    for await (const { type, data } of log.eventStore.readStream('webhook-w'))
      if (type === 'WebhookDisabled') found.push(data['reason'])
    return found
  }

  for (const [status, outcome] of [
    [200, ['succeeded', null]],
    [500, ['dead', 'receiver_asked']],
  ] as const)
    it(`is that nothing more comes: ${status} and "disable" disables it and holds what comes`, async () => {
      assert.deepEqual(await answered(status, 'disable'), outcome)
      await until(async () => (await reasons()).length === 1)
      assert.deepEqual(await reasons(), ['receiver_asked'])
      await log.append(COLLECTION, aliasAdded('two'))
      const scheduled = async () =>
        (await log.deliveryEvents()).filter(({ type }) => type === 'DeliveryScheduled').length
      await until(async () => (await scheduled()) === 2)
      assert.equal(receiver.received.length, 1)
      receiver.behave(answers(200))
      await log.append('webhook-w', { type: 'WebhookEnabled', data: { id: 'w', team: 'default' } })
      await until(() => receiver.received.length === 2)
    })

  it('is that this message does not come again: "abort-message" ends it, and it alone', async () => {
    assert.deepEqual(await answered(500, 'abort-message'), ['dead', 'receiver_asked'])
    receiver.behave(answers(200))
    await log.append(COLLECTION, aliasAdded('two'))
    await until(() => receiver.received.length === 2)
    assert.deepEqual(await reasons(), [])
  })
})
