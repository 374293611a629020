import assert from 'node:assert/strict'
import { open, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteDispatcherState } from '../../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import { openAttempts } from '../../../../src/composition/dispatcher.js'
import { openOrRecreate, recreatingState } from '../../../../src/adapters/dispatch-state/open-or-recreate.js'
import { temporaryDirectory, type TemporaryDirectory } from '../event-store/temporary-directory.js'
import type { DispatcherState } from '../../../../src/domain/webhooks/deliveries/dispatcher-state.js'
import { aliasAdded, COLLECTION, startDispatching } from '../../../support/dispatching.js'
import { until } from '../../../support/until.js'
import { answers } from '../../../support/receivers/behaviours.js'
import { startReceiver } from '../../../support/receivers/receiver.js'

describe('opening a database that the service can lose', () => {
  let directory: TemporaryDirectory
  let warned: string[]
  const log = { warn: (event: string) => void warned.push(event) }
  beforeEach(async () => {
    directory = await temporaryDirectory()
    warned = []
  })
  afterEach(() => directory.remove())

  const garbage = 'not a database, but long enough to be taken for one'.repeat(50)

  it('renames a file that is not a database, and creates a new one', async () => {
    const path = join(directory.path, 'dispatcher.db')
    await writeFile(path, garbage)
    const state = openOrRecreate(path, openSqliteDispatcherState, log)
    assert.equal(state.checkpoint(), undefined)
    state.close()
    assert.deepEqual(warned, ['database.recreated'])
    assert.ok((await readdir(directory.path)).includes('dispatcher.db.spoilt'))
  })

  it('renames a database with a corrupt page, and creates a new one', async () => {
    const path = join(directory.path, 'dispatcher.db')
    const state = openSqliteDispatcherState(path)
    for (let index = 0; index < 200; index += 1) state.put('webhook', `w${index}`, 'x'.repeat(500))
    state.commit(7n)
    state.close()
    const file = await open(path, 'r+')
    await file.write(Buffer.alloc(4096, 0xa5), 0, 4096, 8 * 4096)
    await file.close()
    const recreated = openOrRecreate(path, openSqliteDispatcherState, log)
    assert.equal(recreated.checkpoint(), undefined)
    recreated.close()
    assert.deepEqual(warned, ['database.recreated'])
  })

  it('keeps an intact database', () => {
    const path = join(directory.path, 'dispatcher.db')
    const state = openSqliteDispatcherState(path)
    state.commit(7n)
    state.close()
    const again = openOrRecreate(path, openSqliteDispatcherState, log)
    assert.equal(again.checkpoint(), 7n)
    again.close()
    assert.deepEqual(warned, [])
  })

  it('does not stop the start when attempts.db is corrupt, and shows deliveries without it', async () => {
    await writeFile(join(directory.path, 'attempts.db'), garbage)
    const attempts = openAttempts({ dataDirectory: directory.path }, undefined, log)
    assert.deepEqual(await attempts.of('d', [{ attempt: 1, endedAt: 0 }]), [])
    assert.deepEqual(warned, ['database.recreated'])
    attempts.close()
    assert.deepEqual(await attempts.of('d', [{ attempt: 1, endedAt: 0 }]), [])
    assert.deepEqual(warned, ['database.recreated', 'attempts.read_failed'])
  })
})

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
