import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import type { EventStore } from '../../../../src/kernel/ports/event-store.js'
import { aliasAdded, COLLECTION, startDispatching, type Dispatching } from '../../../support/dispatching.js'
import { until } from '../../../support/until.js'
import { answers } from '../../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../../support/receivers/receiver.js'

/** A log that takes no end of an attempt until it is let go. */
const holdingEnds = (itself: EventStore) => {
  let letGo: () => void = () => undefined
  const released = new Promise<void>((resolve) => (letGo = resolve))
  let held = 0
  const append: EventStore['append'] = async (stream, expected, events) => {
    if (events.some(({ type }) => type === 'AttemptFinished')) {
      held += 1
      await released
    }
    return itself.append(stream, expected, events)
  }
  const eventStore: EventStore = { ...itself, append }
  return { eventStore, letGo, held: () => held }
}

describe('what an answer asks for', () => {
  let log: Dispatching | undefined
  let receiver: Receiver | undefined
  afterEach(async () => {
    await log?.stop()
    await receiver?.stop()
    log = receiver = undefined
  })
  const count = async (type: string) =>
    (await log!.deliveryEvents()).filter((event) => event.type === type).length

  for (const [status, headers] of [
    [429, { 'retry-after': '60' }],
    [410, {}],
  ] as const)
    it(`is heeded before the log has its end: ${status}`, async () => {
      const { eventStore, letGo, held } = holdingEnds(openInMemoryEventStore())
      log = await startDispatching(eventStore)
      receiver = await startReceiver(answers(status, headers))
      await log.addWebhook(receiver.url)
      await (
        await log.start()
      ).caughtUp
      await log.append(COLLECTION, aliasAdded('one'))
      await until(() => held() === 1)
      await log.append(COLLECTION, aliasAdded('two'))
      await until(async () => (await count('DeliveryScheduled')) === 2)
      await sleep(200)
      assert.equal(receiver.received.length, 1)
      letGo()
    })

  it('is not waited for where the address may not be reached: each message ends at once', async () => {
    log = await startDispatching()
    await log.addWebhook('http://10.0.0.1/')
    await (
      await log.start()
    ).caughtUp
    await log.append(COLLECTION, ...Array.from({ length: 40 }, (_, n) => aliasAdded(`v-${n}`)))
    await until(async () => (await count('AttemptFinished')) === 40)
    for (const { type, data } of await log.deliveryEvents())
      if (type === 'AttemptFinished') assert.equal(data['reason'], 'forbidden_address')
  })
})
