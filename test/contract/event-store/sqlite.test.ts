import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openDatabase } from '../../../src/adapters/event-store/sqlite/open-database.js'
import type { Packing } from '../../../src/adapters/event-store/sqlite/packer.js'
import { openSqliteEventStore } from '../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { noHealthReports } from '../../../src/kernel/ports/health.js'
import { arbitraryEvent, givenStreamOf } from './arbitrary-events.js'
import { idsIn } from './collect.js'
import { eventStoreContract } from './event-store-contract.js'
import { EAGER } from '../../unit/adapters/event-store/packed-store.js'
import {
  temporaryDirectory,
  type TemporaryDirectory,
} from '../../unit/adapters/event-store/temporary-directory.js'

const openStore = (packing?: Packing) => async () => {
  const directory = await temporaryDirectory()
  const open = () => openSqliteEventStore(join(directory.path, 'events.db'), noHealthReports, packing)
  let store = open()
  return {
    store,
    restart: async () => {
      await store.close()
      store = open()
      return store
    },
    dispose: async () => {
      await store.close()
      await directory.remove()
    },
  }
}

eventStoreContract('the store in SQLite', openStore())
eventStoreContract('the store in SQLite that packs each event', openStore({ ...EAGER, newest: 0, events: 1 }))

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

  it('goes on in a file of before, which finds no event by its id alone', async () => {
    const path = join(directory.path, 'events.db')
    const newer = openSqliteEventStore(path)
    const { stream, ids } = await givenStreamOf(newer, 3)
    await newer.close()
    const before = new Database(path)
    before.exec('ALTER TABLE events DROP COLUMN seal')
    const made = before.prepare<[], string>("SELECT sql FROM sqlite_schema WHERE name = 'events'").pluck()
    const sql = made.get()!
    before.exec('ALTER TABLE events RENAME TO moved')
    before.exec(sql.replace('UNIQUE (id, sid)', 'UNIQUE (sid, id)'))
    before.exec('INSERT INTO events SELECT * FROM moved; DROP TABLE moved')
    before.pragma('user_version = 1')
    before.close()

    const store = openSqliteEventStore(path)
    assert.equal(store.findEvent, undefined)
    assert.deepEqual(await idsIn(store.readStream(stream)), ids)
    const event = arbitraryEvent()
    const appended = await store.append(stream, 2n, [event])
    assert.deepEqual(await store.append(stream, 2n, [event]), appended)
    await store.close()
  })

  it('is refused when a newer program has changed its layout', () => {
    const path = join(directory.path, 'events.db')
    const newer = new Database(path)
    newer.pragma('user_version = 99')
    newer.close()

    assert.throws(() => openSqliteEventStore(path), /schema version 99/)
  })

  it('is refused when a newer release has written the last event, and left as it is', async () => {
    const path = join(directory.path, 'events.db')
    const stream = 'thing-1'
    const later = openSqliteEventStore(path)
    const [first, last] = [arbitraryEvent(), arbitraryEvent()]
    await later.append(stream, 'none', [first])
    await later.append(stream, 0n, [{ ...last, metadata: { ...last.metadata, schemaVersion: 2 } }])
    await later.close()
    const before = readFileSync(path)

    for (let tries = 0; tries < 2; tries++)
      assert.throws(() => openSqliteEventStore(path), /written by a newer release .*version 2; .* up to 1/)
    assert.deepEqual(readFileSync(path), before)
  })
})
