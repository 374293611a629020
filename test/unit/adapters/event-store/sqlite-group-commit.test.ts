import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { openDatabase } from '../../../../src/adapters/event-store/sqlite/open-database.js'
import { sqliteEventStoreOn } from '../../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import {
  AppendOutcomeUnknown,
  ConcurrencyConflict,
  StoreUnavailable,
} from '../../../../src/kernel/ports/event-store-errors.js'
import {
  arbitraryEvent,
  arbitraryEvents,
  arbitraryStream,
  givenStreamOf,
} from '../../../contract/event-store/arbitrary-events.js'
import { collect, idsIn, idsOf } from '../../../contract/event-store/collect.js'
import { deferred } from './deferred.js'
import { temporaryDirectory, type TemporaryDirectory } from './temporary-directory.js'

describe('appends that SQLite commits together', () => {
  let directory: TemporaryDirectory
  const open = () => {
    const opened = openDatabase(join(directory.path, 'events.db'))
    return { db: opened.db, store: sqliteEventStoreOn(opened) }
  }
  beforeEach(async () => {
    directory = await temporaryDirectory()
  })
  afterEach(() => directory.remove())

  it('do not hinder each other when one of them is a conflict', async () => {
    const { store } = open()
    const { stream } = await givenStreamOf(store, 1)
    const [a, b] = [arbitraryStream(), arbitraryStream()]

    const outcomes = await Promise.allSettled([
      store.append(a, 'none', arbitraryEvents(2)),
      store.append(stream, 'none', arbitraryEvents(2)),
      store.append(b, 'none', arbitraryEvents(2)),
    ])

    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.equal((await collect(store.readAll())).length, 5)
    await store.close()
  })

  it('leave nothing of one that has an id of its stream behind another event', async () => {
    const { store } = open()
    const { stream, events, ids } = await givenStreamOf(store, 2)
    const after = arbitraryStream()

    const [refused, neighbour] = await Promise.allSettled([
      store.append(stream, 1n, [arbitraryEvent(), ...events]),
      store.append(after, 'none', [arbitraryEvent()]),
    ])

    assert.ok(refused.status === 'rejected' && refused.reason instanceof ConcurrencyConflict)
    assert.equal(neighbour.status, 'fulfilled')
    assert.deepEqual(await idsIn(store.readStream(stream)), ids)
    assert.equal((await store.append(stream, 1n, [arbitraryEvent()])).revision, 2n)
    await store.close()
  })

  it('are all acknowledged when there are more than one group takes', async () => {
    const { store } = open()
    const events = arbitraryEvents(3_000)

    await Promise.all(events.map((event) => store.append(arbitraryStream(), 'none', [event])))

    assert.deepEqual(await idsIn(store.readAll()), idsOf(events))
    await store.close()
  })

  it('let the event loop turn between groups', async () => {
    const { store } = open()
    let turns = 0
    let done = false
    const turn = () => {
      turns += 1
      if (!done) void setImmediate().then(turn)
    }
    turn()

    await Promise.all(arbitraryEvents(3_000).map((event) => store.append(arbitraryStream(), 'none', [event])))
    done = true

    assert.ok(turns > 3)
    await store.close()
  })

  it('are all refused when the disk is full, and the store goes on when it is not', async () => {
    const { db, store } = open()
    const { stream, ids } = await givenStreamOf(store, 2)
    const another = arbitraryStream()
    const head = await store.head()
    const attempt = () =>
      Promise.allSettled([
        store.append(stream, 1n, [arbitraryEvent()]),
        store.append(another, 'none', [arbitraryEvent()]),
        store.append(arbitraryStream(), 'none', [arbitraryEvent({ data: { text: 'x'.repeat(50_000) } })]),
      ])

    db.pragma(`max_page_count = ${String(db.pragma('page_count', { simple: true }))}`)
    const refused = await attempt()

    for (const outcome of refused)
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof StoreUnavailable)
    assert.deepEqual(await idsIn(store.readAll()), ids)
    assert.equal(await store.head(), head)

    db.pragma('max_page_count = 1000000')
    const taken = await attempt()

    assert.deepEqual(
      taken.map((outcome) => outcome.status === 'fulfilled' && outcome.value.revision),
      [2n, 0n, 0n],
    )
    assert.equal((await collect(store.readAll())).length, 5)
    await store.close()
  })

  it('are all refused when SQLite fails at one of them, and nothing of them stays', async () => {
    const { db, store } = open()
    db.exec(`CREATE TEMP TRIGGER failing AFTER INSERT ON main.events WHEN new.type = 'Failing'
             BEGIN SELECT raise(ABORT, 'as told'); END`)

    const refused = await Promise.allSettled([
      store.append(arbitraryStream(), 'none', [arbitraryEvent()]),
      store.append(arbitraryStream(), 'none', [arbitraryEvent(), arbitraryEvent({ type: 'Failing' })]),
    ])

    for (const outcome of refused)
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof StoreUnavailable)
    assert.deepEqual(await collect(store.readAll()), [])
    await store.append(arbitraryStream(), 'none', [arbitraryEvent()])
    assert.equal((await collect(store.readAll())).length, 1)
    await store.close()
  })

  it('keep what was written of a group before SQLite failed', async () => {
    const { db, store } = open()
    db.exec(`CREATE TEMP TRIGGER failing AFTER INSERT ON main.events WHEN new.type = 'Failing'
             BEGIN SELECT raise(ABORT, 'as told'); END`)
    const before = arbitraryEvents(300)

    const outcomes = await Promise.allSettled(
      [...before, arbitraryEvent({ type: 'Failing' }), ...arbitraryEvents(50)].map((event) =>
        store.append(arbitraryStream(), 'none', [event]),
      ),
    )

    const acknowledged = before.filter((_, index) => outcomes[index]!.status === 'fulfilled')
    assert.ok(acknowledged.length > 0 && acknowledged.length < 300)
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, acknowledged.length)
    assert.deepEqual(await idsIn(store.readAll()), idsOf(acknowledged))
    await store.append(arbitraryStream(), 'none', [arbitraryEvent()])
    assert.equal((await collect(store.readAll())).length, acknowledged.length + 1)
    await store.close()
  })

  it('share a sync, also when they come in several turns of the event loop', async () => {
    const opened = openDatabase(join(directory.path, 'events.db'))
    let syncs = 0
    const sync = () => {
      syncs += 1
      return opened.sync()
    }
    const store = sqliteEventStoreOn({ ...opened, sync })
    const appended: Promise<unknown>[] = []

    for (let turn = 0; turn < 5; turn += 1) {
      appended.push(store.append(arbitraryStream(), 'none', [arbitraryEvent()]))
      await setImmediate()
    }
    await Promise.all(appended)

    assert.ok(syncs < 5, `${syncs} syncs`)
    await store.close()
  })

  it('cannot be seen before they are synced', async () => {
    const opened = openDatabase(join(directory.path, 'events.db'))
    const [begun, synced] = [deferred(), deferred()]
    const sync = () => {
      begun.resolve()
      return synced.promise
    }
    const store = sqliteEventStoreOn({ ...opened, sync })
    const stream = arbitraryStream()
    const appended = store.append(stream, 'none', [arbitraryEvent()])

    await begun.promise

    assert.deepEqual(await collect(store.readAll()), [])
    assert.deepEqual(await collect(store.readStream(stream)), [])
    assert.deepEqual(await collect(store.readStream(stream, { backwards: true })), [])
    assert.equal(await store.head(), 0n)
    synced.resolve()
    const { position } = await appended
    assert.equal(await store.head(), position)
    assert.equal((await collect(store.readStream(stream))).length, 1)
    await store.close()
  })

  it('have the answer of the disk when they are acknowledged, each its own', async () => {
    const { store } = open()
    const [asked, answered] = [new Set<number>(), new Set<number>()]
    const hook = createHook({
      // SQLite's own work is not seen here: what it asks the file system for asynchronously is the sync alone.
      init: (id, type) => {
        if (type === 'FSREQCALLBACK') asked.add(id)
      },
      before: (id) => {
        if (asked.has(id)) answered.add(id)
      },
    }).enable()

    for (let appends = 0; appends < 20; appends += 1) {
      const before = answered.size
      await store.append(arbitraryStream(), 'none', [arbitraryEvent()])
      assert.ok(answered.size > before)
    }
    hook.disable()
    await store.close()
  })

  it('are in doubt when the sync fails, and the store takes no more until it is opened again', async () => {
    const opened = openDatabase(join(directory.path, 'events.db'))
    const sync = () => Promise.reject(new Error('EIO'))
    const store = sqliteEventStoreOn({ ...opened, sync })
    const stream = arbitraryStream()
    const event = arbitraryEvent()

    await assert.rejects(store.append(stream, 'none', [event]), AppendOutcomeUnknown)

    await assert.rejects(store.append(stream, 'none', [event]), StoreUnavailable)
    await assert.rejects(store.checkWritable(), StoreUnavailable)
    assert.deepEqual(await collect(store.readAll()), [])
    await store.close()
    const again = open().store
    assert.equal((await again.append(stream, 'none', [event])).revision, 0n)
    assert.equal((await collect(again.readAll())).length, 1)
    await again.close()
  })

  it('are only possible again, after one that failed, when as much can be written as it needed', async () => {
    const opened = openDatabase(join(directory.path, 'events.db'))
    let room = 0
    const tried: number[] = []
    const tryRoom = (bytes: number) => {
      tried.push(bytes)
      if (bytes > room) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
      opened.tryRoom(bytes)
    }
    const store = sqliteEventStoreOn({ ...opened, tryRoom })
    await store.checkWritable()
    assert.deepEqual(tried, [])
    opened.db.pragma(`max_page_count = ${Number(opened.db.pragma('page_count', { simple: true }))}`)
    const event = { ...arbitraryEvent(), data: { text: 'x'.repeat(300_000) } }
    await assert.rejects(store.append(arbitraryStream(), 'none', [event]), StoreUnavailable)

    await assert.rejects(store.checkWritable(), StoreUnavailable)
    assert.ok(tried[0]! > 300_000)
    room = 10_000_000
    await store.checkWritable()

    opened.db.pragma('max_page_count = 1000000')
    await store.append(arbitraryStream(), 'none', [event])
    tried.length = 0
    await store.checkWritable()
    assert.deepEqual(tried, [])
    await store.close()
  })

  it('are written before the store closes', async () => {
    const { store } = open()
    const events = arbitraryEvents(1_000)
    const appended = Promise.all(events.map((event) => store.append(arbitraryStream(), 'none', [event])))

    await store.close()
    await appended

    const again = open().store
    assert.deepEqual(await idsIn(again.readAll()), idsOf(events))
    await again.close()
  })
})
