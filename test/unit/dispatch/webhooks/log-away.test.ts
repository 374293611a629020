import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import type { Dispatcher } from '../../../../src/dispatch/webhooks/dispatcher.js'
import type { EventStore } from '../../../../src/kernel/ports/event-store.js'
import { StoreUnavailable } from '../../../../src/kernel/ports/event-store-errors.js'
import { aliasAdded, COLLECTION, startDispatching, type Dispatching } from '../../../support/dispatching.js'
import { until } from '../../../support/until.js'
import { answers } from '../../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../../support/receivers/receiver.js'

/** A log whose appends fail while it is away. */
const leaving = (itself: EventStore) => {
  let isAway = false
  const append: EventStore['append'] = async (stream, expected, events) => {
    if (isAway) throw new StoreUnavailable('the log is away')
    return itself.append(stream, expected, events)
  }
  const eventStore: EventStore = { ...itself, append }
  return { eventStore, leave: () => void (isAway = true), comeBack: () => void (isAway = false) }
}

describe('an attempt that is answered while the log is away', () => {
  let log: Dispatching
  let dispatcher: Dispatcher
  let receiver: Receiver
  let comeBack: () => void
  beforeEach(async () => {
    const away = leaving(openInMemoryEventStore())
    comeBack = away.comeBack
    log = await startDispatching(away.eventStore)
    receiver = await startReceiver((socket, received) => {
      away.leave()
      answers(200)(socket, received)
    })
    const content = { retry_waits_s: [0.05, 0.05], timeout_s: 10 }
    await log.addWebhook(receiver.url, content)
    dispatcher = await log.start()
    await dispatcher.caughtUp
    await log.append(COLLECTION, aliasAdded('one'))
    await until(() => receiver.received.length === 1)
  })
  afterEach(async () => {
    await log.stop()
    await receiver.stop()
  })
  const types = async () => (await log.deliveryEvents()).map(({ type }) => type)

  it('is recorded with its outcome when the log is back after 3 s, and sent once', async () => {
    setTimeout(comeBack, 3000)
    await until(async () => (await types()).length === 3, 20_000)
    assert.deepEqual(await types(), ['DeliveryScheduled', 'AttemptStarted', 'AttemptFinished'])
    assert.equal((await log.deliveryEvents()).at(-1)!.data['outcome'], 'succeeded')
    assert.equal(receiver.received.length, 1)
  })

  it('does not delay a stop until its deadline', async () => {
    const began = performance.now()
    await dispatcher.stop(100)
    assert.ok(performance.now() - began < 5000)
  })
})
