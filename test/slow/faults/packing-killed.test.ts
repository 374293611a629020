import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { openSqliteEventStore } from '../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { collect, idsOf } from '../../contract/event-store/collect.js'
import { COUNTS } from '../../counts.js'
import { dataOf, eventOfItself } from '../../support/faults/packed-events.js'
import { startChild } from '../../unit/adapters/event-store/child-program.js'
import { packedIn } from '../../unit/adapters/event-store/packed-store.js'
import {
  temporaryDirectory,
  type TemporaryDirectory,
} from '../../unit/adapters/event-store/temporary-directory.js'

const KILLS = COUNTS.packingKills
/** Not packed at the start of each round. */
const EVENTS = 3000
const MAX_WAIT_MS = 600

describe('kill -9 of a process that packs its log', () => {
  let directory: TemporaryDirectory
  let path: string
  before(async () => {
    directory = await temporaryDirectory()
    path = join(directory.path, 'events.db')
  })
  after(() => directory.remove())

  const write = async (count: number) => {
    const store = openSqliteEventStore(path)
    const events = Array.from({ length: count }, eventOfItself)
    for (const event of events) void store.append(`call-team/project/${event.id}`, 'none', [event])
    await store.close()
    return idsOf(events)
  }

  const read = async () => {
    const db = new Database(path)
    assert.equal(db.pragma('integrity_check', { simple: true }), 'ok')
    const packed = packedIn(db).length
    db.close()
    const store = openSqliteEventStore(path)
    const events = await collect(store.readAll())
    await store.close()
    return { events, packed }
  }

  it(`loses and changes no event in ${KILLS} rounds`, async () => {
    const written: string[] = []
    const counts = { acknowledged: 0, packedInRounds: [] as number[] }
    let packedBefore = 0
    for (let kill = 0; kill < KILLS; kill += 1) {
      written.push(...(await write(EVENTS)))
      const child = await startChild('../../../support/faults/packing-child.ts', path)
      await child.firstLine
      await sleep(Math.random() * MAX_WAIT_MS)
      const acknowledged = await child.kill()
      written.push(...acknowledged)

      const { events, packed } = await read()

      const ids = new Set(idsOf(events))
      assert.deepEqual(
        written.filter((id) => !ids.has(id)),
        [],
      )
      assert.equal(ids.size, events.length)
      for (const { id, data } of events) assert.deepEqual(data, dataOf(id))
      assert.ok(packed >= packedBefore)
      counts.acknowledged += acknowledged.length
      counts.packedInRounds.push(packed - packedBefore)
      packedBefore = packed
    }
    assert.ok(packedBefore > 0)
    console.log(`      ${KILLS} rounds: ${JSON.stringify(counts)}`)
  })
})
