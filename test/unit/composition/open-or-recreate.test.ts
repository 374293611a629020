import assert from 'node:assert/strict'
import { open, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteDispatcherState } from '../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import { openAttempts } from '../../../src/composition/dispatcher.js'
import { openOrRecreate } from '../../../src/composition/open-or-recreate.js'
import { temporaryDirectory, type TemporaryDirectory } from '../adapters/event-store/temporary-directory.js'

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
    const attempts = openAttempts({ dataDirectory: directory.path }, log)
    assert.deepEqual(attempts.of('d', { first: 1, last: 9 }), [])
    assert.deepEqual(warned, ['database.recreated'])
    attempts.close()
    assert.deepEqual(attempts.of('d', { first: 1, last: 9 }), [])
    assert.deepEqual(warned, ['database.recreated', 'attempts.read_failed'])
  })
})
