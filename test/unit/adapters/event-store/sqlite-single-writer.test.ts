import assert from 'node:assert/strict'
import { join } from 'node:path'
import { openSqliteEventStore } from '../../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { StoreUnavailable } from '../../../../src/kernel/ports/event-store-errors.js'
import { arbitraryEvent, arbitraryStream } from '../../../contract/event-store/arbitrary-events.js'
import { startChild } from './child-program.js'
import { temporaryDirectory, type TemporaryDirectory } from './temporary-directory.js'

describe('the file of the store in SQLite has one writer', () => {
  let directory: TemporaryDirectory
  let path: string
  beforeEach(async () => {
    directory = await temporaryDirectory()
    path = join(directory.path, 'events.db')
  })
  afterEach(() => directory.remove())

  const isRefusal = (pid: number | undefined) => (error: unknown) => {
    assert.ok(error instanceof StoreUnavailable)
    assert.ok(error.message.includes(`another Tallytree process (pid ${String(pid)})`), error.message)
    assert.ok(error.message.includes(path), error.message)
    assert.ok(error.message.includes('TALLYTREE_DATA_DIR'), error.message)
    return true
  }

  it('and refuses a second opening in the same process', async () => {
    const store = openSqliteEventStore(path)

    assert.throws(() => openSqliteEventStore(path), isRefusal(process.pid))

    await store.append(arbitraryStream(), 'none', [arbitraryEvent()])
    await store.close()
  })

  it('and refuses a second process, which learns who holds the file and what to do', async () => {
    const store = openSqliteEventStore(path)
    const second = await startChild('hold-store-open.ts', path)

    const said = await second.firstLine

    await second.kill()
    assert.match(said, new RegExp(`StoreUnavailable: .*pid ${process.pid}\\).*TALLYTREE_DATA_DIR`))
    await store.append(arbitraryStream(), 'none', [arbitraryEvent()])
    await store.close()
  })

  it('until that one is killed', async () => {
    const first = await startChild('hold-store-open.ts', path)
    assert.equal(await first.firstLine, 'open')
    assert.throws(() => openSqliteEventStore(path), isRefusal(first.pid))

    await first.kill()

    const store = openSqliteEventStore(path)
    await store.append(arbitraryStream(), 'none', [arbitraryEvent()])
    await store.close()
  })

  it('until it closes the file', async () => {
    await openSqliteEventStore(path).close()

    await openSqliteEventStore(path).close()
  })
})
