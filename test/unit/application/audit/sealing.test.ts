import assert from 'node:assert/strict'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { openLogCopy } from '../../../../src/adapters/event-store/sqlite/log-copy.js'
import { openSqliteEventStore } from '../../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { openSqliteLogTree } from '../../../../src/adapters/log-tree/sqlite-log-tree.js'
import { makeLogKeys, readLogKeys, rotateLogKeys } from '../../../../src/adapters/secrets/log-keys.js'
import { systemClock } from '../../../../src/adapters/system/system.js'
import { startSealing } from '../../../../src/application/audit/sealing.js'
import type { EventStore } from '../../../../src/kernel/ports/event-store.js'
import { noHealthReports, type HealthReports } from '../../../../src/kernel/ports/health.js'
import type { LogTree } from '../../../../src/kernel/ports/log-tree.js'
import { parseProof } from '../../../../src/kernel/tlog/entries.js'
import { leafHash, rootOfPath } from '../../../../src/kernel/tlog/merkle.js'
import { openNote, parseCheckpoint } from '../../../../src/kernel/tlog/note.js'
import { arbitraryEvent, arbitraryStream } from '../../../contract/event-store/arbitrary-events.js'
import { until } from '../../../support/until.js'
import { collect } from '../../../contract/event-store/collect.js'
import { openPackedStore } from '../../adapters/event-store/packed-store.js'
import {
  temporaryDirectory,
  type TemporaryDirectory,
} from '../../adapters/event-store/temporary-directory.js'

describe('sealing the log', () => {
  let directory: TemporaryDirectory
  let store: EventStore
  const at = (name: string) => join(directory.path, name)
  const keys = () => readLogKeys(at('log-keys'))!

  beforeEach(async () => {
    directory = await temporaryDirectory()
    store = openSqliteEventStore(at('events.db'))
    makeLogKeys(at('log-keys'), 'traces.example')
  })
  afterEach(async () => {
    await store.close()
    await directory.remove()
  })

  const write = async (count: number, to = store) => {
    const writes = Array.from({ length: count }, (_, n) =>
      to.append(arbitraryStream(), 'none', [arbitraryEvent({ data: { n } })]),
    )
    await Promise.all(writes)
  }
  const sealingOf = (
    eventStore: EventStore,
    tree: LogTree = openSqliteLogTree(at('log-tree.db')),
    health: HealthReports = noHealthReports,
  ) =>
    startSealing({
      eventStore,
      tree,
      keys: keys(),
      clock: systemClock,
      log: { info: () => undefined },
      health,
    })
  /** Starts and stops, and returns the last checkpoint. */
  const seal = async (eventStore = store, name = 'log-tree.db') => {
    const tree = openSqliteLogTree(at(name))
    await (
      await sealingOf(eventStore, tree).catch((error: unknown) => {
        tree.close()
        throw error
      })
    ).stop()
    const sealed = openSqliteLogTree(at(name))
    const { note } = sealed.latest()!
    sealed.close()
    return parseCheckpoint(openNote(note, keys().active(new Date())).text)
  }

  it('has the same root when it is done at once, and in steps with starts in between', async () => {
    for (const count of [1, 254, 1, 1, 300]) {
      await write(count)
      await seal()
    }
    const inSteps = await seal()
    assert.equal(inSteps.size, 557)
    assert.deepEqual(await seal(store, 'other.db'), inSteps)
  })

  it('has the same root for a copy of the log', async () => {
    await write(300)
    const copy = openLogCopy(at('copy.db'))
    copy.write(await collect(store.readAll({ withSeals: true })))
    copy.close()
    const copied = openSqliteEventStore(at('copy.db'))
    assert.deepEqual(await seal(copied, 'other.db'), await seal())
    await copied.close()
  })

  it('waits for the seals of a log of an earlier release', async () => {
    await write(300)
    await store.close()
    const db = new Database(at('events.db'))
    db.exec('UPDATE events SET seal = NULL')
    db.close()
    store = openSqliteEventStore(at('events.db'))
    const sealing = await sealingOf(store)
    await sealing.stop()
    assert.equal(sealing.checkpoint(), undefined)
    await store.close()
    const packed = openPackedStore(at('events.db'))
    await packed.store.append(arbitraryStream(), 'none', [arbitraryEvent()])
    const unsealed = packed.db.prepare<[], number>('SELECT count(*) FROM events WHERE seal IS NULL').pluck()
    await until(() => unsealed.get() === 0)
    store = packed.store
    assert.equal((await seal()).size, 301)
  })

  it('proves each event of a log whose positions have gaps and whose events have no seals', async () => {
    const gaps = openInMemoryEventStore()
    await write(300, gaps)
    await seal(gaps)
    const sealing = await sealingOf(gaps)
    const { size, root } = parseCheckpoint(sealing.checkpoint()!.note)
    const indexAt = sealing.indices()
    let index = 0
    for await (const { id, position } of gaps.readAll()) {
      index += 1
      if (index % 50 !== 1 && index < 250) continue
      const { entry, path, ...proof } = parseProof((await sealing.proof(position))!)!
      assert.deepEqual([proof.index, await indexAt(position)], [index - 1, index - 1])
      assert.equal((JSON.parse(entry.toString()) as { id: string }).id, id)
      assert.deepEqual(rootOfPath(leafHash(entry), index - 1, size, path), root)
    }
    assert.equal(index, size)
    await sealing.stop()
  })

  it('gives the tiles of each checkpoint, and no more than it covers', async () => {
    await write(255)
    const sealing = await sealingOf(store)
    await write(10)
    await sealing.stop()
    const tree = openSqliteLogTree(at('log-tree.db'))
    const next = await sealingOf(store, tree)
    assert.equal((await next.tile(0, 0, 255))?.length, 255 * 32)
    assert.equal((await next.tile(0, 0, 256))?.length, 256 * 32)
    assert.equal((await next.tile(0, 1, 9))?.length, 9 * 32)
    assert.equal(await next.tile(0, 1, 10), undefined)
    assert.equal((await next.tile(1, 0, 1))?.length, 32)
    assert.equal(await next.tile(1, 0, 2), undefined)
    assert.equal((await next.entries(1, 9))?.readUInt16BE(), (await next.entries(1, 1))!.length - 2)
    assert.equal(await next.entries(1, 10), undefined)
    await next.stop()
  })

  it('refuses a log that lacks its end, with both sizes', async () => {
    await write(20)
    await seal()
    await store.close()
    const db = new Database(at('events.db'))
    db.exec('DELETE FROM events WHERE position > 12')
    db.close()
    store = openSqliteEventStore(at('events.db'))
    await assert.rejects(
      seal(),
      /has 12 events, but log-tree\.db has 20 leaves and a signed checkpoint of 20 events.*tallytree log new-origin/s,
    )
  })

  it('refuses another log', async () => {
    await write(20)
    await seal()
    const other = openSqliteEventStore(at('other-events.db'))
    await write(30, other)
    await assert.rejects(seal(other), /event 19 of the event log is not the one that was sealed/)
    await other.close()
  })

  it('refuses a tree that another sealer has open', async () => {
    await write(1)
    const sealing = await sealingOf(store)
    assert.throws(() => openSqliteLogTree(at('log-tree.db')), /only one may sign the log/)
    await sealing.stop()
  })

  it('publishes nothing that it could not save, and continues once it can', async () => {
    await write(300)
    const tree = openSqliteLogTree(at('log-tree.db'))
    const reports: unknown[] = []
    let isFull = true
    const save: LogTree['save'] = (step) => (isFull ? Promise.reject(new Error('full')) : tree.save(step))
    const health = { report: (_: string, error: unknown) => void reports.push(error) }
    const sealing = await sealingOf(store, { ...tree, save, close: () => undefined }, health)
    await sealing.stop()
    assert.equal(sealing.checkpoint(), undefined)
    assert.ok(reports.every((error) => error instanceof Error))
    isFull = false
    await sealing.stop()
    assert.equal(sealing.checkpoint()?.size, 300)
    assert.equal(reports.at(-1), null)
    tree.close()
  })

  it('signs with the former key too after a rotation, for a time', async () => {
    await write(1)
    const [former] = keys().active(new Date())
    const end = await rotateLogKeys(at('log-keys'), new Date())
    const active = keys().active(new Date())
    assert.equal(active.length, 3)
    assert.equal(keys().origin, former!.name)
    await seal()
    const tree = openSqliteLogTree(at('log-tree.db'))
    const { note } = tree.latest()!
    tree.close()
    for (const key of active) assert.equal(openNote(note, [key]).signatures.length, 1)
    assert.ok(active.some(({ text }) => text === former!.text))
    assert.ok(
      keys()
        .active(new Date(end.getTime() + 1))
        .every(({ text }) => text !== former!.text),
    )
    await rotateLogKeys(at('log-keys'), new Date(end.getTime() + 1))
    assert.equal(openNote(note, keys().all).signatures.length, 3)
    assert.ok(keys().all.some(({ text }) => text === former!.text))
  })

  it('keeps the last checkpoint of each minute, then of each hour, then of each day', async () => {
    const tree = openSqliteLogTree(at('log-tree.db'))
    const now = Date.UTC(2026, 5, 1)
    const MINUTE = 60_000
    const ages = [50 * 24 * 60, 50 * 24 * 60 - 60, 2 * 24 * 60, 2 * 24 * 60 - 10, 30, 30 - 0.2, 0]
    for (const [n, age] of ages.entries()) {
      const checkpoint = { size: n + 1, signedAt: new Date(now - age * MINUTE), note: String(n) }
      await tree.save({ tiles: [], positions: new Map(), checkpoint })
    }
    assert.deepEqual(
      tree.checkpoints().map(({ size }) => size),
      [2, 4, 6, 7],
    )
    tree.close()
  })
})
