import assert from 'node:assert/strict'
import { open, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteDispatcherState } from '../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import { openAttempts } from '../../../src/composition/dispatcher.js'
import { openOrPutAside } from '../../../src/composition/put-aside.js'
import { temporaryDirectory, type TemporaryDirectory } from '../adapters/event-store/temporary-directory.js'

describe('a file that the service can do without', () => {
  let directory: TemporaryDirectory
  let warned: string[]
  const log = { warn: (event: string) => void warned.push(event) }
  beforeEach(async () => {
    directory = await temporaryDirectory()
    warned = []
  })
  afterEach(() => directory.remove())

  const rubbish = 'no database at all, but long enough to be taken for one'.repeat(50)

  it('is put aside and made anew where it is no database', async () => {
    const path = join(directory.path, 'dispatcher.db')
    await writeFile(path, rubbish)
    const state = openOrPutAside(path, openSqliteDispatcherState, log)
    assert.equal(state.checkpoint(), undefined)
    state.close()
    assert.deepEqual(warned, ['database.recreated'])
    assert.ok((await readdir(directory.path)).includes('dispatcher.db.spoilt'))
  })

  it('is put aside where a page in its middle is spoilt', async () => {
    const path = join(directory.path, 'dispatcher.db')
    const state = openSqliteDispatcherState(path)
    for (let index = 0; index < 200; index += 1) state.put('webhook', `w${index}`, 'x'.repeat(500))
    state.commit(7n)
    state.close()
    const file = await open(path, 'r+')
    await file.write(Buffer.alloc(4096, 0xa5), 0, 4096, 8 * 4096)
    await file.close()
    const anew = openOrPutAside(path, openSqliteDispatcherState, log)
    assert.equal(anew.checkpoint(), undefined)
    anew.close()
    assert.deepEqual(warned, ['database.recreated'])
  })

  it('is left where it is whole', () => {
    const path = join(directory.path, 'dispatcher.db')
    const state = openSqliteDispatcherState(path)
    state.commit(7n)
    state.close()
    const again = openOrPutAside(path, openSqliteDispatcherState, log)
    assert.equal(again.checkpoint(), 7n)
    again.close()
    assert.deepEqual(warned, [])
  })

  it('holds up no start where it is what attempts looked like', async () => {
    await writeFile(join(directory.path, 'attempts.db'), rubbish)
    const attempts = openAttempts({ dataDirectory: directory.path }, log)
    assert.deepEqual(attempts.of('d', { first: 1, last: 9 }), [])
    assert.deepEqual(warned, ['database.recreated'])
    attempts.close()
    assert.deepEqual(attempts.of('d', { first: 1, last: 9 }), [])
    assert.deepEqual(warned, ['database.recreated', 'attempts.read_failed'])
  })
})
