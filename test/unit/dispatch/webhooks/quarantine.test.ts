import assert from 'node:assert/strict'
import { openSqliteDispatcherState } from '../../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import { Unavailable } from '../../../../src/dispatch/webhooks/blame.js'
import { EventFailed, openQuarantine } from '../../../../src/dispatch/webhooks/quarantine.js'
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

describe('an event that cannot be taken', () => {
  const logged: [string, unknown][] = []
  const log = { error: (name: string, fields?: unknown) => void logged.push([name, fields]) }
  beforeEach(() => void logged.splice(0))

  it('is tried three times, then passed over, remembered, and named without its values', async () => {
    const state = openSqliteDispatcherState(':memory:')
    let taken = 0
    const quarantine = openQuarantine(
      () => {
        taken += 1
        return Promise.reject(new TypeError('hush'))
      },
      state,
      log,
    )
    for (let tried = 0; tried < 3; tried += 1) await assert.rejects(quarantine.take(event), EventFailed)
    assert.equal(quarantine.count(), 0)
    await quarantine.take(event)
    assert.equal(taken, 3)
    assert.equal(quarantine.count(), 1)
    assert.deepEqual(
      logged.map(([name]) => name),
      ['dispatcher.event_failed', 'dispatcher.event_failed', 'dispatcher.event_quarantined'],
    )
    assert.deepEqual(logged[2]![1], { event: 'e', position: '7', type: 'Odd', error: 'TypeError', tries: 3 })
    state.close()
  })

  it('is never given up while it is the log or the state that fails', async () => {
    const state = openSqliteDispatcherState(':memory:')
    const quarantine = openQuarantine(() => Promise.reject(new Unavailable(new Error('away'))), state, log)
    for (let tried = 0; tried < 10; tried += 1) await assert.rejects(quarantine.take(event), Unavailable)
    assert.equal(quarantine.count(), 0)
    assert.deepEqual(logged, [])
    state.close()
  })

  it('does not keep the dispatcher from what stands behind it', async () => {
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
