import assert from 'node:assert/strict'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openDatabase } from '../../../src/adapters/event-store/sqlite/open-database.js'
import { openSqliteEventStore } from '../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { eventStoreContract } from '../../contract/event-store/event-store-contract.js'
import { temporaryDirectory, type TemporaryDirectory } from './temporary-directory.js'

eventStoreContract('the store in SQLite', async () => {
  const directory = await temporaryDirectory()
  const path = join(directory.path, 'events.db')
  let store = openSqliteEventStore(path)
  return {
    store,
    restart: async () => {
      await store.close()
      store = openSqliteEventStore(path)
      return store
    },
    dispose: async () => {
      await store.close()
      await directory.remove()
    },
  }
})

describe('the file of the store in SQLite', () => {
  let directory: TemporaryDirectory
  beforeEach(async () => {
    directory = await temporaryDirectory()
  })
  afterEach(() => directory.remove())

  it('is written ahead to a log that SQLite syncs before it moves its content', () => {
    const { db, close } = openDatabase(join(directory.path, 'events.db'))

    assert.equal(db.pragma('journal_mode', { simple: true }), 'wal')
    assert.equal(db.pragma('synchronous', { simple: true }), 1)
    close()
  })

  it('is made with its directory, and has 0 for its head', async () => {
    const store = openSqliteEventStore(join(directory.path, 'new', 'data', 'events.db'))

    assert.equal(await store.head(), 0n)
    await store.close()
  })

  it('is refused when a newer program has changed its layout', () => {
    const path = join(directory.path, 'events.db')
    const newer = new Database(path)
    newer.pragma('user_version = 99')
    newer.close()

    assert.throws(() => openSqliteEventStore(path), /layout 99/)
  })
})
