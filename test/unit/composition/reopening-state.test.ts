import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteDispatcherState } from '../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import { openOrPutAside } from '../../../src/composition/put-aside.js'
import { reopeningState } from '../../../src/composition/reopening-state.js'
import type { DispatcherState } from '../../../src/domain/ports/dispatcher-state.js'
import { aliasAdded, COLLECTION, startDispatching } from '../../support/dispatching.js'
import { until } from '../../support/until.js'
import { answers } from '../../support/receivers/behaviours.js'
import { startReceiver } from '../../support/receivers/receiver.js'

const spoilt = () => Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' })

describe("the dispatcher's state when its file is spoilt while it is in use", () => {
  it('is made anew from the log, and nothing is lost or sent twice', async () => {
    const receiver = await startReceiver(answers(200), { address: '127.0.0.1' })
    const log = await startDispatching()
    const path = join(log.directory, 'dispatcher.db')
    const warned: string[] = []
    let isSpoilt = false
    let opened = 0
    /** Once spoilt, the file that was opened first cannot be used any more. */
    const open = (): DispatcherState => {
      const state = openOrPutAside(path, openSqliteDispatcherState, {
        warn: (event) => void warned.push(event),
      })
      opened += 1
      const putDelivery: DispatcherState['putDelivery'] = (entry) => {
        if (isSpoilt && opened === 1) throw spoilt()
        state.putDelivery(entry)
      }
      const rollBack = () => {
        if (isSpoilt && opened === 1) throw spoilt()
        state.rollBack()
      }
      return { ...state, putDelivery, rollBack }
    }
    await log.addWebhook(`${receiver.url}hook`)
    const state = (first: DispatcherState) => {
      first.close()
      return reopeningState(open)
    }
    const dispatcher = await log.start({ state })
    await dispatcher.caughtUp
    await log.append(COLLECTION, aliasAdded('one'))
    await until(() => receiver.received.length === 1)
    isSpoilt = true
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
