import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteDispatcherState } from '../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import { openOrRecreate } from '../../../src/composition/open-or-recreate.js'
import { recreatingState } from '../../../src/composition/recreating-state.js'
import type { DispatcherState } from '../../../src/domain/webhooks/deliveries/dispatcher-state.js'
import { aliasAdded, COLLECTION, startDispatching } from '../../support/dispatching.js'
import { until } from '../../support/until.js'
import { answers } from '../../support/receivers/behaviours.js'
import { startReceiver } from '../../support/receivers/receiver.js'

const corruption = () => Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' })

describe('the state of the dispatcher, when its file becomes corrupt while in use', () => {
  it('is recreated from the log, and every webhook is sent once', async () => {
    const receiver = await startReceiver(answers(200), { address: '127.0.0.1' })
    const log = await startDispatching()
    const path = join(log.directory, 'dispatcher.db')
    const warned: string[] = []
    let isCorrupt = false
    let opened = 0
    /** The first file that is opened fails once it is corrupt. */
    const open = (): DispatcherState => {
      const state = openOrRecreate(path, openSqliteDispatcherState, {
        warn: (event) => void warned.push(event),
      })
      opened += 1
      const putDelivery: DispatcherState['putDelivery'] = (entry) => {
        if (isCorrupt && opened === 1) throw corruption()
        state.putDelivery(entry)
      }
      const rollBack = () => {
        if (isCorrupt && opened === 1) throw corruption()
        state.rollBack()
      }
      return { ...state, putDelivery, rollBack }
    }
    await log.addWebhook(`${receiver.url}hook`)
    const state = (first: DispatcherState) => {
      first.close()
      return recreatingState(open)
    }
    const dispatcher = await log.start({ state })
    await dispatcher.caughtUp
    await log.append(COLLECTION, aliasAdded('one'))
    await until(() => receiver.received.length === 1)
    isCorrupt = true
    for (const end of ['', '-wal']) await writeFile(path + end, 'no database at all'.repeat(100))
    await log.append(COLLECTION, aliasAdded('two'))
    await until(() => receiver.received.length === 2)
    await log.append(COLLECTION, aliasAdded('three'))
    await until(() => receiver.received.length === 3)
    assert.equal(opened, 2)
    assert.deepEqual(warned, ['database.recreated'])
    assert.ok((await readdir(log.directory)).includes('dispatcher.db.spoilt'))
    const sent = receiver.received.map(({ headers }) => headers['webhook-id'])
    assert.equal(new Set(sent).size, 3)
    await log.stop()
    await receiver.stop()
  })
})
