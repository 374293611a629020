import assert from 'node:assert/strict'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteEventStore } from '../../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import type { EventStore } from '../../../../src/kernel/ports/event-store.js'
import { StoreUnavailable } from '../../../../src/kernel/ports/event-store-errors.js'
import { arbitraryEvent, arbitraryStream } from '../../../contract/event-store/arbitrary-events.js'
import { collect } from '../../../contract/event-store/collect.js'
import { temporaryDirectory, type TemporaryDirectory } from './temporary-directory.js'

describe('a log whose files do not stay where they are', () => {
  let parent: TemporaryDirectory
  let directory: string
  let store: EventStore
  beforeEach(async () => {
    parent = await temporaryDirectory()
    directory = join(parent.path, 'data')
    store = openSqliteEventStore(join(directory, 'events.db'))
    await append()
  })
  afterEach(async () => {
    await store.close()
    await parent.remove()
  })

  const append = () => store.append(arbitraryStream(), 'none', [arbitraryEvent()])
  const refuses = () =>
    assert.rejects(append(), (error: unknown) => {
      assert.ok(error instanceof StoreUnavailable)
      assert.match(error.message, /events\.db was moved or deleted: restore the files/)
      return true
    })

  it('acknowledges nothing while they are elsewhere, and goes on when they are back', async () => {
    await rename(directory, `${directory}-moved`)
    await refuses()
    await rename(`${directory}-moved`, directory)
    await append()
    await store.close()

    store = openSqliteEventStore(join(directory, 'events.db'))
    assert.equal((await collect(store.readAll())).length, 2)
  })

  for (const file of ['events.db', 'events.db-wal'])
    it(`acknowledges nothing once ${file} is deleted`, async () => {
      await rm(join(directory, file))
      await refuses()
    })

  it('acknowledges nothing once another log has taken their place', async () => {
    await rm(directory, { recursive: true })
    await mkdir(directory)
    const other = openSqliteEventStore(join(directory, 'events.db'))
    await refuses()
    await other.close()
  })
})
