import assert from 'node:assert/strict'
import { copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { openDatabase } from '../../../../src/adapters/event-store/sqlite/open-database.js'
import { openLogCopy } from '../../../../src/adapters/event-store/sqlite/log-copy.js'
import {
  openSqliteEventStore,
  sqliteEventStoreOn,
} from '../../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { pagesOf } from '../../../../src/cli/log-digest.js'
import type { EventStore } from '../../../../src/kernel/ports/event-store.js'
import { AppendOutcomeUnknown } from '../../../../src/kernel/ports/event-store-errors.js'
import {
  arbitraryEvent,
  arbitraryEvents,
  arbitraryStream,
} from '../../../contract/event-store/arbitrary-events.js'
import { collect, collectUntil, idsIn, idsOf } from '../../../contract/event-store/collect.js'
import { COUNTS } from '../../../counts.js'
import { afterEvents } from '../../../support/append-next.js'
import { until } from '../../../support/until.js'
import { EAGER, openPackedStore, packedIn, untilPacked } from './packed-store.js'
import { temporaryDirectory, type TemporaryDirectory } from './temporary-directory.js'

const TYPES = ['CallStarted', 'CallEnded', 'CallRenamed', 'CallEnded', 'AliasAdded']
const STREAMS = [1, 5, 40, 300]
const MOST = Math.max(...STREAMS)

describe('a log with packed events', () => {
  let directory: TemporaryDirectory
  let path: string
  beforeEach(async () => {
    directory = await temporaryDirectory()
    path = join(directory.path, 'events.db')
  })
  afterEach(() => directory.remove())

  /** Closes the file of a new log with streams of several lengths, whose events are of all sizes and mixed with others. */
  const givenStreams = async () => {
    const store = openSqliteEventStore(path)
    const streams = STREAMS.map(arbitraryStream)
    for (let left = MOST; left > 0; left -= 1)
      for (const [index, count] of STREAMS.entries()) {
        if (left > count) continue
        const text = '漢字 "x" 😀'.repeat(left % 97 === 0 ? 20_000 : left % 60)
        const type = TYPES[(left + index) % TYPES.length]!
        const event = arbitraryEvent({ type, data: { number: count - left, text } })
        await store.append(streams[index]!, afterEvents(count - left), [event])
      }
    await store.close()
    return streams
  }

  const givenCalls = async (count: number, text = 'x'.repeat(2000)) => {
    const store = openSqliteEventStore(path)
    const events = arbitraryEvents(count).map((event, n) => ({ ...event, data: { n, text } }))
    for (const event of events) void store.append(arbitraryStream(), 'none', [event])
    await store.close()
    return events
  }

  const givenPackedCalls = async (count: number) => {
    const events = await givenCalls(count)
    const { db, store } = openPackedStore(path)
    await untilPacked(db)
    await store.close()
    return events
  }

  it('answers every read as the log did before', async () => {
    const streams = await givenStreams()
    const before = join(directory.path, 'before.db')
    copyFileSync(path, before)
    const plain = openSqliteEventStore(before)
    const { db, store } = openPackedStore(path)
    await untilPacked(db)
    const events = await collect(plain.readAll())
    const range = readRanges(events.length)

    const reads = fc.oneof(
      fc.record({ after: range.position, limit: range.limit }).map((options) => {
        return (from: EventStore) => from.readAll(withoutUndefined(options))
      }),
      fc
        .record({ stream: fc.constantFrom(...streams), ...range.ofStream, limit: range.limit })
        .map(({ stream, ...options }) => {
          return (from: EventStore) => from.readStream(stream, withoutUndefined(options))
        }),
      fc
        .record({ types: fc.option(range.types, { nil: undefined }), before: range.position })
        .map(({ types, before }) => {
          return (from: EventStore) => from.readBackwards(types, { before })
        }),
      fc.record({ after: range.position, types: range.types }).map((options) => {
        return (from: EventStore) => untilCaughtUp(from.subscribeAll(options))
      }),
      fc.constantFrom(...events).map(
        ({ id }) =>
          (from: EventStore) =>
            one(from.findEvent?.(id)),
      ),
    )
    await fc.assert(
      fc.asyncProperty(reads, async (read) => {
        assert.deepEqual(await collect<unknown>(read(store)), await collect<unknown>(read(plain)))
      }),
      { numRuns: COUNTS.packedReads },
    )
    await store.close()
    await plain.close()
  })

  it('is copied and verified with the texts that it was written with', async () => {
    await givenStreams()
    const written = () => {
      const copy = openLogCopy(path)
      const events = [...pagesOf(copy)].flat()
      const ofStreams = new Set(events.map(({ stream }) => stream))
      const again = [...ofStreams].flatMap((stream) => [...copy.stream(stream)])
      copy.close()
      return { events, again }
    }
    const before = written()
    const { db, store } = openPackedStore(path)
    await untilPacked(db)
    await store.close()

    assert.deepEqual(written(), before)
  })

  it('keeps the newest events and those of types with an index in their rows', async () => {
    await givenStreams()
    const { db, store } = openPackedStore(path, { newest: 50 })
    await untilPacked(db, { ...EAGER, newest: 50 })

    const packed = packedIn(db)
    const events = await collect(store.readAll())
    assert.ok(packed.at(-1)! <= events.length - 50)
    assert.ok(packed.at(-1)! > events.length - 50 - 2 * EAGER.events)
    const types = packed.map((position) => events[position - 1]!.type)
    assert.deepEqual(new Set(types), new Set(['CallStarted', 'CallEnded']))
    await store.close()
  })

  it('packs what is appended, and reads it while it does', async () => {
    const { db, store } = openPackedStore(path)
    const events = arbitraryEvents(400)
    const following = collectUntil(store.subscribeAll(), (_, items) => items.length >= events.length)
    for (const event of events) {
      await store.append(arbitraryStream(), 'none', [event])
      const read = await idsIn(store.readAll())
      assert.deepEqual(read, idsOf(events).slice(0, read.length))
    }
    await following
    await untilPacked(db)

    assert.deepEqual(await idsIn(store.readAll()), idsOf(events))
    assert.ok(packedIn(db).length >= events.length - EAGER.newest - EAGER.events)
    await store.close()
  })

  it('recognises the repeat of an append whose events are packed', async () => {
    const { db, store } = openPackedStore(path)
    const [stream, events] = [arbitraryStream(), arbitraryEvents(3)]
    const appended = await store.append(stream, 'none', events)
    for (const event of arbitraryEvents(30)) await store.append(arbitraryStream(), 'none', [event])
    await untilPacked(db)

    assert.ok(packedIn(db).includes(3))
    assert.deepEqual(await store.append(stream, 'none', events), appended)
    await store.close()
  })

  it('pauses between packs', async () => {
    await givenCalls(200)
    const { db, store } = openPackedStore(path, { quietRest: 1_000_000 })
    await until(() => packedIn(db).length > 0)
    await sleep(100)

    assert.equal(packedIn(db).length, EAGER.events)
    await store.close()
  })

  it('pauses longer while events are appended', async () => {
    await givenCalls(200)
    const { db, store } = openPackedStore(path, { rest: 1_000_000, idleMs: 50 })
    await store.append(arbitraryStream(), 'none', [arbitraryEvent()])
    await until(() => packedIn(db).length > 0)
    await sleep(100)

    assert.equal(packedIn(db).length, EAGER.events)
    await store.close()
  })

  it('packs nothing once the store is closed', async () => {
    await givenCalls(2000)
    const errors: unknown[] = []
    const health = { report: (_: string, error: unknown) => void errors.push(error) }
    const { db, store } = openPackedStore(path, {}, health)
    await until(() => packedIn(db).length > 0)
    await store.close()
    await sleep(20)

    assert.deepEqual(
      errors.filter((error) => error !== null),
      [],
    )
    const after = openDatabase(path)
    const packed = packedIn(after.db).length
    after.close()
    assert.ok(packed < 2000 - EAGER.newest, `${packed} packed`)
    const again = openPackedStore(path)
    await untilPacked(again.db)
    assert.ok(packedIn(again.db).length > packed)
    await again.store.close()
  })

  it('gives the pages that packing frees back to the disk', async () => {
    const events = await givenCalls(2000)
    const before = statSync(path).size
    const { db, store } = openPackedStore(path, { events: 128 })
    await untilPacked(db, { ...EAGER, events: 128 })
    await until(() => Number(db.pragma('freelist_count', { simple: true })) <= EAGER.freePages)
    assert.deepEqual(await idsIn(store.readAll()), idsOf(events))
    await store.close()

    assert.ok(statSync(path).size < before / 4, `${statSync(path).size} of ${before} bytes`)
  })

  describe('whose file is of an earlier release', () => {
    /** The file as the release made it. */
    const asBefore = (version: 1 | 2) => {
      const db = new Database(path)
      db.exec('DROP TABLE packs; ALTER TABLE events DROP COLUMN seal')
      db.pragma(`user_version = ${version}`)
      db.pragma('journal_mode = DELETE')
      db.pragma('auto_vacuum = NONE')
      if (version === 1) {
        const table = db.prepare<[], string>("SELECT sql FROM sqlite_schema WHERE name = 'events'").pluck()
        const sql = table.get()!
        db.exec('DROP INDEX events_by_type; ALTER TABLE events RENAME TO moved')
        db.exec(sql.replace('UNIQUE (id, sid)', 'UNIQUE (sid, id)'))
        db.exec('INSERT INTO events SELECT * FROM moved; DROP TABLE moved')
      }
      db.exec('VACUUM')
      db.close()
    }

    const versionOf = () => {
      const db = new Database(path)
      const version = db.pragma('user_version', { simple: true })
      db.close()
      return version
    }

    for (const version of [1, 2] as const)
      it(`is packed over time, in version ${version}`, async () => {
        const events = await givenCalls(300)
        asBefore(version)
        const { db, store } = openPackedStore(path)
        await untilPacked(db)

        assert.deepEqual(await idsIn(store.readAll()), idsOf(events))
        assert.equal(store.findEvent === undefined, version === 1)
        await store.checkWritable()
        await store.close()
        assert.equal(versionOf(), 4)
        const again = openSqliteEventStore(path)
        assert.equal(again.findEvent === undefined, version === 1)
        assert.deepEqual(await idsIn(again.readAll()), idsOf(events))
        await again.close()
      })

    it('uses the pages that packing frees for new events', async () => {
      await givenCalls(2000)
      asBefore(2)
      const before = statSync(path).size
      const { db, store } = openPackedStore(path, { events: 128 })
      await untilPacked(db, { ...EAGER, events: 128 })
      for (const event of arbitraryEvents(1000))
        void store.append(arbitraryStream(), 'none', [{ ...event, data: { text: 'x'.repeat(2000) } }])
      await store.close()

      assert.ok(statSync(path).size < before * 1.1, `${statSync(path).size} of ${before} bytes`)
    })
  })

  it('marks the events of a corrupt pack, and reads the others', async () => {
    const events = await givenPackedCalls(100)
    const db = new Database(path)
    db.exec(
      "UPDATE packs SET texts = CAST(substr(texts, 1, 20) || x'00' || substr(texts, 22) AS BLOB) WHERE first = 9",
    )
    db.exec('DELETE FROM packs WHERE first = 17')
    db.close()
    const store = openSqliteEventStore(path)
    const read = await collect(store.readAll())

    assert.deepEqual(idsOf(read), idsOf(events))
    const unreadable = read.filter((event) => event.unreadable !== undefined)
    assert.deepEqual(
      unreadable.map(({ position }) => Number(position)),
      Array.from({ length: 16 }, (_, index) => 9 + index),
    )
    assert.deepEqual([...new Set(unreadable.map((event) => event.unreadable))], ['its pack is damaged'])
    const found = await store.findEvent!(events[15]!.id)
    assert.equal(found?.unreadable, 'its pack is damaged')
    await assert.rejects(collect(store.readStream(found.stream)), {
      name: 'StreamUnreadable',
      message: `stream ${found.stream} cannot be read at position 16 of the event log: its pack is damaged`,
    })
    await store.close()
  })

  it('reports that it cannot be packed, and is packed once it can', async () => {
    await givenCalls(300)
    const reports: unknown[] = []
    const health = {
      report: (part: string, error: unknown) => {
        if (part === 'event-log-packs') reports.push(error)
      },
    }
    const { db, store } = openPackedStore(path, {}, health)
    db.pragma('query_only = true')
    await until(() => reports.length > 0)

    assert.match(String(reports[0]), /failed to pack older events/)
    assert.deepEqual(packedIn(db), [])
    db.pragma('query_only = false')
    await untilPacked(db)
    await until(() => reports.at(-1) === null)
    await store.close()
  })

  it('packs nothing after a sync failed', async () => {
    await givenCalls(20)
    const opened = openDatabase(path)
    const sync = () => Promise.reject(new Error('EIO'))
    const store = sqliteEventStoreOn({ ...opened, sync }, undefined, { ...EAGER, idleMs: 20 })
    await assert.rejects(store.append(arbitraryStream(), 'none', [arbitraryEvent()]), AppendOutcomeUnknown)
    await sleep(100)

    assert.deepEqual(packedIn(opened.db), [])
    await store.close()
  })
})

const readRanges = (events: number) => ({
  position: fc.bigInt({ min: 0n, max: BigInt(events + 3) }),
  limit: fc.option(fc.integer({ min: 1, max: 700 }), { nil: undefined }),
  ofStream: {
    from: fc.option(fc.bigInt({ min: 0n, max: BigInt(MOST + 1) }), { nil: undefined }),
    backwards: fc.boolean(),
  },
  types: fc.subarray([...new Set(TYPES), 'Other'], { minLength: 1 }).map((types) => new Set(types)),
})

type Defined<A> = { [K in keyof A]: Exclude<A[K], undefined> }

const withoutUndefined = <A extends object>(options: A): Partial<Defined<A>> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<
    Defined<A>
  >

const untilCaughtUp = async function* (items: ReturnType<EventStore['subscribeAll']>) {
  for await (const item of items) {
    yield item
    if (item.kind === 'caughtUp') return
  }
}

const one = async function* <A>(found: Promise<A> | undefined) {
  yield await found
}
