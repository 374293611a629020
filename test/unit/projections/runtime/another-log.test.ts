import assert from 'node:assert/strict'
import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import type { ClickHouse } from '../../../../src/domain/ports/clickhouse.js'
import type { EventStore } from '../../../../src/domain/ports/event-store.js'
import { projections } from '../../../../src/projections/all.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { emptyIfOfAnotherLog } from '../../../../src/projections/runtime/another-log.js'
import { readCheckpoint } from '../../../../src/projections/runtime/checkpoint.js'
import { startProjector } from '../../../../src/projections/runtime/projector.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { append, startOf } from '../given-log.js'

describe('read models', () => {
  let clickHouse: ClickHouse
  let eventStore: EventStore
  let told: string[]
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (event: string) => void told.push(event),
  }
  const EVENTS = 5

  const logOf = async (events: number): Promise<EventStore> => {
    const store = openInMemoryEventStore()
    for (let index = 0; index < events; index += 1) await append(store, 'CallStarted', startOf(`c-${index}`))
    return store
  }

  /** Where they stand after a look at a log. */
  const lookedAt = async (present: EventStore): Promise<bigint> => {
    await emptyIfOfAnotherLog(clickHouse, { head: await present.head(), eventStore: present }, log)
    return readCheckpoint(clickHouse.writer)
  }

  const project = async () => {
    const blobs = openInMemoryBlobStore()
    const projecting = { eventStore, blobs, clickHouse: clickHouse.writer, projections, log }
    const projector = await startProjector(projecting)
    assert.ok(await projector.waitFor(await eventStore.head(), 30_000))
    await projector.stop()
  }

  beforeEach(async () => {
    told = []
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
    eventStore = await logOf(EVENTS)
    await project()
  })
  afterEach(() => clickHouse.close())

  it('stay where the log is theirs, also where it went on', async () => {
    const head = await eventStore.head()
    assert.equal(await lookedAt(eventStore), head)
    await append(eventStore, 'CallStarted', startOf('later'))
    assert.equal(await lookedAt(eventStore), head)
    assert.deepEqual(told, [])
  })

  it('stay where they know nothing of events that could not be projected, wherever those are', async () => {
    const head = await eventStore.head()
    for (const unknown of ['3', '2, 4', '5', '1'].map(
      (places) => `DELETE FROM event_times WHERE position IN (${places})`,
    )) {
      await clickHouse.writer.command(unknown)
      assert.equal(await lookedAt(eventStore), head)
    }
    assert.deepEqual(told, [])
  })

  it('are emptied where the log is another one, shorter, as long or longer', async () => {
    for (const [length, event] of [
      [EVENTS - 1, 'ahead_of_log'],
      [EVENTS, 'of_another_log'],
      [EVENTS + 2, 'of_another_log'],
    ] as const) {
      const other = await logOf(length)
      assert.equal(await lookedAt(other), 0n)
      assert.deepEqual(told.splice(0), [`projection.${event}`])
      assert.deepEqual(await clickHouse.writer.query('SELECT * FROM event_times'), [])
      await project()
    }
  })
})
