import assert from 'node:assert/strict'
import { openSqliteDispatcherState } from '../../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import { followInto, openSkippedEvents } from '../../../../src/dispatch/webhooks/follow.js'
import { StoreUnavailable } from '../../../../src/kernel/ports/event-store-errors.js'
import type { RecordedEvent } from '../../../../src/kernel/ports/event-store.js'
import { aliasAdded, COLLECTION, startDispatching } from '../../../support/dispatching.js'
import { until } from '../../../support/until.js'
import { answers } from '../../../support/receivers/behaviours.js'
import { startReceiver } from '../../../support/receivers/receiver.js'

const event: RecordedEvent = {
  id: 'e',
  type: 'Odd',
  stream: 'odd-1',
  position: 7n,
  revision: 0n,
  recordedAt: new Date(0),
  data: { secret: 'hush' },
  metadata: { correlationId: 'c', causationId: 'c', actor: 'a', schemaVersion: 1 },
  size: 1,
}

describe('an event that cannot be applied', () => {
  const logged: [string, unknown][] = []
  const log = { error: (name: string, fields?: unknown) => void logged.push([name, fields]) }
  beforeEach(() => void logged.splice(0))

  it('is skipped after three tries, stored, and logged without its values', () => {
    const state = openSqliteDispatcherState(':memory:')
    const skipped = openSkippedEvents(state, log)
    for (let tries = 0; tries < 3; tries += 1) {
      assert.equal(skipped.has(event), false)
      skipped.noteFailure(event, new TypeError('hush'))
    }
    assert.equal(skipped.count(), 0)
    assert.equal(skipped.has(event), true)
    assert.equal(skipped.count(), 1)
    assert.deepEqual(
      logged.map(([name]) => name),
      ['dispatcher.event_failed', 'dispatcher.event_failed', 'dispatcher.event_quarantined'],
    )
    assert.deepEqual(logged[2]![1], { event: 'e', position: '7', type: 'Odd', error: 'TypeError', tries: 3 })
    state.close()
  })

  it('is never skipped because the log or the state fails', () => {
    const state = openSqliteDispatcherState(':memory:')
    const skipped = openSkippedEvents(state, log)
    for (let tries = 0; tries < 10; tries += 1) skipped.noteFailure(event, new StoreUnavailable('away'))
    assert.equal(skipped.has(event), false)
    assert.deepEqual(logged, [])
    state.close()
  })

  it('does not stop later events', async () => {
    const receiver = await startReceiver(answers(200), { address: '127.0.0.1' })
    const dispatching = await startDispatching()
    await dispatching.addWebhook(`${receiver.url}hook`)
    await dispatching.append(COLLECTION, aliasAdded('before'))
    await dispatching.append('delivery-odd', { type: 'DeliveryScheduled', data: { scheduled_at: 'soon' } })
    await dispatching.append(COLLECTION, aliasAdded('after'))
    const dispatcher = await dispatching.start()
    await until(() => receiver.received.length === 2)
    await dispatcher.stop()
    const state = openSqliteDispatcherState(`${dispatching.directory}/dispatcher.db`)
    const [[, kept] = []] = [...state.all('quarantine')]
    assert.equal((kept as { type: string }).type, 'DeliveryScheduled')
    state.close()
    await dispatching.stop()
    await receiver.stop()
  })
})

describe('a subscription that ends by itself', () => {
  it('is replaced after a pause', async () => {
    let subscriptions = 0
    async function* subscribeAll(): AsyncGenerator<never> {
      subscriptions += 1
      // Without a pause, this would repeat for ever.
      if (subscriptions > 100) await new Promise((resolve) => setTimeout(resolve, 1000))
    }
    const state = openSqliteDispatcherState(':memory:')
    const ending = new AbortController()
    const log = { error: () => undefined }
    const follower = followInto({
      eventStore: { subscribeAll },
      state,
      isIgnored: () => false,
      prepare: () => Promise.resolve(() => undefined),
      skipped: openSkippedEvents(state, log),
      onCaughtUp: () => Promise.resolve(),
      onProgress: () => undefined,
      onStateFailure: () => undefined,
      log,
      signal: ending.signal,
    })
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(subscriptions, 1)
    ending.abort()
    await follower.stopped
    state.close()
  })
})
