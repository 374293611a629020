import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import type { DispatcherState } from '../../../../src/domain/webhooks/deliveries/dispatcher-state.js'
import { StoreUnavailable } from '../../../../src/kernel/ports/event-store-errors.js'
import type { EventStore } from '../../../../src/kernel/ports/event-store.js'
import {
  aliasAdded,
  automationCreated,
  COLLECTION,
  startDispatching,
  type Dispatching,
} from '../../../support/dispatching.js'
import { until } from '../../../support/until.js'
import { answers } from '../../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../../support/receivers/receiver.js'

/** Two calls of a function fail, as on a full disk. */
const failingTwice = <A extends object>(itself: A, name: keyof A): A => {
  const works = itself[name] as (...given: unknown[]) => unknown
  let left = 2
  const fails = (...given: unknown[]): unknown => {
    left -= 1
    if (left >= 0) throw new Error('the disk is full')
    return works(...given)
  }
  return { ...itself, [name]: fails }
}

describe('the state of the dispatcher', () => {
  let receiver: Receiver
  const logs: Dispatching[] = []
  beforeEach(async () => (receiver = await startReceiver(answers(200), { address: '127.0.0.1' })))
  afterEach(async () => {
    for (const log of logs.splice(0)) await log.stop()
    await receiver.stop()
  })

  const dispatching = async (eventStore?: EventStore) => {
    const log = await startDispatching(eventStore)
    logs.push(log)
    await log.addWebhook(`${receiver.url}hook`)
    return log
  }
  const succeeded = (log: Dispatching, count: number) =>
    until(async () => {
      const events = await log.deliveryEvents()
      return events.filter(({ data }) => data['outcome'] === 'succeeded').length >= count
    })

  const WRITTEN = ['put', 'putDelivery', 'commit', 'claimDue'] as const
  const READ = ['some', 'inFlight', 'nextDue', 'waitingFor'] as const
  for (const name of [...WRITTEN, ...READ])
    it(`loses and repeats nothing if ${name} fails`, async () => {
      const log = await dispatching()
      await log.start({ state: (state: DispatcherState) => failingTwice(state, name) })
      for (const alias of ['one', 'two', 'three']) await log.append(COLLECTION, aliasAdded(alias))
      await succeeded(log, 3)
      assert.equal(receiver.received.length, 3)
    })

  it('is not needed for the records of attempts', async () => {
    const log = await dispatching()
    const dispatcher = await log.start({ records: (records) => failingTwice(records, 'put') })
    await log.append(COLLECTION, aliasAdded('one'))
    await succeeded(log, 1)
    await dispatcher.stop()
  })

  it('has all deliveries of an event before its checkpoint passes the event', async () => {
    const inner = openInMemoryEventStore()
    const eventStore: EventStore = {
      ...inner,
      append: (...given) => {
        if (given[0].startsWith('delivery-')) throw new StoreUnavailable('the store is away')
        return inner.append(...given)
      },
    }
    const log = await dispatching(eventStore)
    for (let n = 1; n < 100; n += 1) await log.append(`automation-a${n}`, automationCreated(`a${n}`, 'w'))
    const committed: { readonly position: bigint; readonly kept: number }[] = []
    const { caughtUp } = await log.start({
      state: (state) => ({
        ...state,
        commit: (position) => {
          committed.push({ position, kept: state.some('outbox', 1000).length })
          state.commit(position)
        },
      }),
    })
    await caughtUp
    await log.append(COLLECTION, aliasAdded('one'))
    const head = await inner.head()
    const read = () => committed.filter(({ position }) => position >= head)
    await until(() => read().length > 0)
    assert.equal(read()[0]!.kept, 100)
  })

  it('keeps a delivery whose automation is deleted while the log is away', async () => {
    const inner = openInMemoryEventStore()
    let isAway = false
    const away = () => {
      if (isAway) throw new StoreUnavailable('the store is away')
    }
    const eventStore: EventStore = {
      ...inner,
      append: (...given) => {
        if (given[0].startsWith('delivery-')) away()
        return inner.append(...given)
      },
      async *subscribeAll(range) {
        for await (const item of inner.subscribeAll(range)) {
          yield item
          if (item.kind === 'event' && item.event.type === 'AutomationDeleted') away()
        }
      },
    }
    const log = await dispatching(eventStore)
    const { caughtUp } = await log.start()
    await caughtUp
    isAway = true
    await log.append(COLLECTION, aliasAdded('one'))
    await log.append('automation-a', { type: 'AutomationDeleted', data: { id: 'a', team: 'default' } })
    setTimeout(() => (isAway = false), 1500)
    await succeeded(log, 1)
    assert.equal(receiver.received.length, 1)
  })
})
