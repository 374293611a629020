import assert from 'node:assert/strict'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openLogCopy } from '../../../../src/adapters/event-store/sqlite/log-copy.js'
import { openSqliteEventStore } from '../../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { arbitraryEvent, arbitraryStream } from '../../../contract/event-store/arbitrary-events.js'
import { collect } from '../../../contract/event-store/collect.js'
import { until } from '../../../support/until.js'
import { openPackedStore } from './packed-store.js'
import { temporaryDirectory, type TemporaryDirectory } from './temporary-directory.js'

const EVENTS = 1000

describe('events of a release without seals', () => {
  let directory: TemporaryDirectory
  let path: string
  beforeEach(async () => {
    directory = await temporaryDirectory()
    path = join(directory.path, 'events.db')
    const store = openSqliteEventStore(path)
    for (let n = 0; n < EVENTS; n += 1)
      void store.append(arbitraryStream(), 'none', [arbitraryEvent({ data: { n } })])
    await store.close()
    const db = new Database(path)
    db.exec('ALTER TABLE events DROP COLUMN seal')
    db.pragma('user_version = 3')
    db.close()
  })
  afterEach(() => directory.remove())

  const countUnsealed = (db: Database.Database) =>
    db.prepare<[], number>('SELECT count(*) FROM events WHERE seal IS NULL').pluck().get()!

  it('are read as they are, and get their seals in the background, also after a stop in between', async () => {
    const unsealed = openSqliteEventStore(path)
    const before = await collect(unsealed.readAll())
    assert.ok(before.every(({ unreadable }) => unreadable === undefined))
    await unsealed.close()

    const first = openPackedStore(path)
    await until(() => countUnsealed(first.db) < EVENTS)
    await first.store.close()
    const told: number[] = []
    const second = openPackedStore(path, { onSealing: (upTo) => void told.push(upTo) })
    await second.store.append(arbitraryStream(), 'none', [arbitraryEvent()])
    await until(() => countUnsealed(second.db) === 0)
    await until(() => told.at(-1) === 0)
    assert.deepEqual((await collect(second.store.readAll())).slice(0, EVENTS), before)
    await second.store.close()
  })

  it('keep their seals in a copy of the log', async () => {
    const { db, store } = openPackedStore(path)
    await until(() => countUnsealed(db) === 0)
    const events = await collect(store.readAll({ withSeals: true }))
    const copy = openLogCopy(join(directory.path, 'copy.db'))
    copy.write(events)
    const other = openSqliteEventStore(join(directory.path, 'other.db'))
    for (const event of events) await other.append(event.stream, 'none', [event])

    const seals = events.map(({ seal }) => Buffer.from(seal!))
    assert.deepEqual(
      copy.page(0, EVENTS).map(({ seal }) => Buffer.from(seal, 'hex')),
      seals,
    )
    assert.deepEqual(
      (await collect(other.readAll({ withSeals: true }))).map(({ seal }) =>
        Buffer.from(seal!).subarray(0, 48),
      ),
      seals.map((seal) => seal.subarray(0, 48)),
    )
    assert.equal(new Set(seals.map((seal) => seal.toString('hex', 0, 16))).size, EVENTS)
    copy.close()
    await other.close()
    await store.close()
  })
})
