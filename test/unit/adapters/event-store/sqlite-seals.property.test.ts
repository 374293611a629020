import assert from 'node:assert/strict'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { pack, unpack } from '../../../../src/adapters/event-store/sqlite/pack.js'
import { openSqliteEventStore } from '../../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import type { RecordedEvent } from '../../../../src/kernel/ports/event-store.js'
import { arbitraryEvent, arbitraryStream } from '../../../contract/event-store/arbitrary-events.js'
import { collect } from '../../../contract/event-store/collect.js'
import { COUNTS } from '../../../counts.js'
import { openPackedStore, untilPacked } from './packed-store.js'
import { temporaryDirectory, type TemporaryDirectory } from './temporary-directory.js'

const EVENTS = 40
const TEXTS = ['', 'x', '漢字😀', '\ufffd', '\0\u0001', '{"a":"\\"}', 'long '.repeat(5000)]
/** In these any byte may change; in others the column's type limits what may become of it. */
const COLUMNS = ['data', 'metadata', 'seal', 'id', 'type'] as const

describe('the seal of an event', () => {
  let directory: TemporaryDirectory
  let path: string
  beforeEach(async () => {
    directory = await temporaryDirectory()
    path = join(directory.path, 'events.db')
  })
  afterEach(() => directory.remove())

  const givenEvents = async (type: string) => {
    const store = openSqliteEventStore(path)
    for (let n = 0; n < EVENTS; n += 1) {
      const data = { n, text: TEXTS[n % TEXTS.length]! }
      await store.append(arbitraryStream(), 'none', [arbitraryEvent({ type, data })])
    }
    await store.close()
  }

  const inDatabase = <A>(run: (db: Database.Database) => A): A => {
    const db = new Database(path)
    try {
      return run(db)
    } finally {
      db.close()
    }
  }

  const readAll = async (): Promise<readonly RecordedEvent[]> => {
    const store = openSqliteEventStore(path)
    const events = await collect(store.readAll())
    await store.close()
    return events
  }

  const changed = (bytes: Buffer, at: number, mask: number): Buffer => {
    const copy = Buffer.from(bytes)
    copy[at % copy.length]! ^= mask
    return copy
  }

  const flips = fc.record({
    position: fc.integer({ min: 1, max: EVENTS }),
    at: fc.nat(200_000),
    mask: fc.integer({ min: 1, max: 255 }),
  })

  it('notices any changed byte of a row, and leaves the other events alone', async () => {
    await givenEvents('CallRenamed')
    const before = await readAll()
    assert.ok(before.every(({ unreadable }) => unreadable === undefined))

    await fc.assert(
      fc.asyncProperty(flips, fc.constantFrom(...COLUMNS), async ({ position, at, mask }, column) => {
        const type = column === 'seal' ? 'BLOB' : 'TEXT'
        const set = `UPDATE events SET ${column} = CAST(? AS ${type}) WHERE position = ?`
        const written = inDatabase((db) => {
          const bytes = db
            .prepare<[number], Buffer>(`SELECT CAST(${column} AS BLOB) FROM events WHERE position = ?`)
            .pluck()
            .get(position)!
          db.prepare(set).run(changed(bytes, at, mask), position)
          return bytes
        })
        const after = await readAll()
        inDatabase((db) => db.prepare(set).run(written, position))

        assert.deepEqual(
          after.flatMap((event) => (event.unreadable === undefined ? [] : [event.position])),
          [BigInt(position)],
        )
        const others = (events: readonly RecordedEvent[]) =>
          events.filter((event) => event.position !== BigInt(position))
        assert.deepEqual(others(after), others(before))
      }),
      { numRuns: COUNTS.packs },
    )
    assert.deepEqual(await readAll(), before)
  })

  for (const statement of [
    'UPDATE events SET recorded_at = recorded_at + 1 WHERE position = 7',
    'UPDATE events SET recorded_at = 9007199254740991 WHERE position = 7',
    'UPDATE events SET revision = 3 WHERE position = 7',
    'UPDATE events SET sid = sid + 1000 WHERE position = 7',
    'UPDATE streams SET name = name || 1 WHERE sid = (SELECT sid FROM events WHERE position = 7)',
    'DELETE FROM streams WHERE sid = (SELECT sid FROM events WHERE position = 7)',
  ])
    it(`notices ${statement}`, async () => {
      await givenEvents('CallRenamed')
      inDatabase((db) => db.exec(statement))

      const events = await readAll()
      assert.equal(events.length, EVENTS)
      assert.deepEqual(
        events.flatMap(({ position, unreadable }) => (unreadable === undefined ? [] : [position])),
        [7n],
      )
    })

  it('notices any changed byte of a pack, and what was packed wrong', async () => {
    await givenEvents('CallStarted')
    const { db, store } = openPackedStore(path)
    await untilPacked(db)
    await store.close()
    const before = await readAll()

    await fc.assert(
      fc.asyncProperty(fc.nat(200_000), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const texts = inDatabase((file) => {
          const found = file.prepare<[], Buffer>(PACK).pluck().get()!
          file.prepare(SET_PACK).run(changed(found, at, mask))
          return found
        })
        const after = await readAll()
        inDatabase((file) => file.prepare(SET_PACK).run(texts))

        // A bit that brotli ignores changes nothing.
        const isReadable = (_: unknown, index: number) => after[index]?.unreadable === undefined
        assert.deepEqual(after.filter(isReadable), before.filter(isReadable))
      }),
      { numRuns: COUNTS.packs },
    )
    assert.deepEqual(await readAll(), before)

    const found = unpack(inDatabase((file) => file.prepare<[], Buffer>(PACK).pluck().get()!))!
    const wrong = before.slice(8, 16).map((event) => {
      const position = Number(event.position)
      const { data, metadata } = found(position)!
      return {
        position,
        data: Buffer.from(data.replace('"n":8,', '"n":9,')),
        metadata: Buffer.from(metadata),
      }
    })
    const texts = await pack(wrong)
    inDatabase((file) => file.prepare(SET_PACK).run(texts))
    const unreadable = (await readAll()).filter((event) => event.unreadable !== undefined)
    assert.deepEqual(
      unreadable.map((event) => [event.position, event.unreadable]),
      [[9n, 'it is not as it was written']],
    )
  })
})

const PACK = 'SELECT texts FROM packs WHERE first = 9'
const SET_PACK = 'UPDATE packs SET texts = ? WHERE first = 9'
