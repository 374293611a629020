import assert from 'node:assert/strict'
import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { ClickHouseUnavailable, type ClickHouse } from '../../../../src/domain/ports/clickhouse.js'
import type { EventStore } from '../../../../src/domain/ports/event-store.js'
import { projections } from '../../../../src/projections/all.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { readCheckpoint } from '../../../../src/projections/runtime/checkpoint.js'
import {
  emptyReadModels,
  findLogMismatch,
  noteSourceLog,
} from '../../../../src/projections/runtime/log-identity.js'
import { startProjector } from '../../../../src/projections/runtime/projector.js'
import { appendNext } from '../../../support/append-next.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { append, startOf } from '../given-log.js'

describe('read models', () => {
  let clickHouse: ClickHouse
  let eventStore: EventStore
  const EVENTS = 5

  const logOf = async (events: number): Promise<EventStore> => {
    const store = openInMemoryEventStore()
    for (let index = 0; index < events; index += 1) await append(store, 'CallStarted', startOf(`c-${index}`))
    return store
  }

  const mismatchWith = async (present: EventStore) =>
    (await findLogMismatch(clickHouse.writer, clickHouse.database, present))?.kind

  const project = async () => {
    const blobs = openInMemoryBlobStore()
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
    const projecting = { eventStore, blobs, clickHouse: clickHouse.writer, projections, log }
    const projector = await startProjector(projecting)
    assert.ok(await projector.waitFor(await eventStore.head(), 30_000))
    await projector.stop()
  }

  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())
  beforeEach(async () => {
    await emptyReadModels(clickHouse)
    eventStore = await logOf(EVENTS)
    await project()
  })

  it('belong to their log, also after it has grown', async () => {
    assert.equal(await mismatchWith(eventStore), undefined)
    await append(eventStore, 'CallStarted', startOf('later'))
    assert.equal(await mismatchWith(eventStore), undefined)
  })

  it('belong to their log where some of its events could not be projected', async () => {
    for (const unknown of ['3', '2, 4', '5', '1']) {
      await clickHouse.writer.command(`DELETE FROM event_times WHERE position IN (${unknown})`)
      assert.equal(await mismatchWith(eventStore), undefined)
    }
  })

  it('do not belong to a shorter, equally long or longer log', async () => {
    for (const length of [EVENTS - 1, EVENTS, EVENTS + 2])
      assert.equal(await mismatchWith(await logOf(length)), 'log_mismatch')
  })

  it('do not belong to a log that was restored to an earlier state, or has grown since', async () => {
    await noteSourceLog(clickHouse.writer, eventStore)
    const restored = openInMemoryEventStore()
    for await (const event of eventStore.readAll({ limit: EVENTS - 1 }))
      await appendNext(restored, event.stream, [event])
    assert.equal(await mismatchWith(restored), 'log_shorter_than_checkpoint')
    await append(restored, 'CallStarted', startOf('other'))
    assert.equal(await mismatchWith(restored), 'log_mismatch')
  })

  it('do not belong to a log whose first event is at another position', async () => {
    await noteSourceLog(clickHouse.writer, eventStore)
    const shifted = {
      ...eventStore,
      async *readAll(options: Parameters<EventStore['readAll']>[0]) {
        for await (const event of eventStore.readAll(options))
          yield { ...event, position: event.position + 1000n }
      },
    }
    assert.equal(await mismatchWith(shifted), 'log_mismatch')
  })

  it('belong to no log where no event shows which one', async () => {
    await clickHouse.writer.command('TRUNCATE TABLE event_times')
    await clickHouse.writer.insert({
      table: 'checkpoints',
      columns: ['projector', 'position'],
      values: [['main', '5']],
    })
    assert.equal(await mismatchWith(eventStore), 'log_mismatch')
  })

  it('belong to any log where an earlier release noted only that it had projected nothing', async () => {
    for (const table of ['event_times', 'checkpoints'])
      await clickHouse.writer.command(`TRUNCATE TABLE ${table}`)
    await clickHouse.writer.insert({
      table: 'checkpoints',
      columns: ['projector', 'position'],
      values: [['main', '0']],
    })
    for (const log of [eventStore, openInMemoryEventStore()]) assert.equal(await mismatchWith(log), undefined)
  })

  it('belong to any log after they were emptied, also when that was cut off at any statement', async () => {
    await noteSourceLog(clickHouse.writer, eventStore)
    const other = await logOf(EVENTS)
    for (let statements = 0; ; statements += 1) {
      let left = statements
      const command = (sql: string) => {
        if ((left -= 1) < 0) throw new Error('cut off')
        return clickHouse.writer.command(sql)
      }
      const isEmptied = await emptyReadModels({
        ...clickHouse,
        writer: { ...clickHouse.writer, command },
      }).then(
        () => true,
        () => false,
      )
      if (isEmptied) break
      assert.equal(await mismatchWith(other), 'log_mismatch')
    }
    assert.equal(await mismatchWith(other), undefined)
    assert.equal(await readCheckpoint(clickHouse.writer), 0n)
    assert.deepEqual(await clickHouse.writer.query('SELECT * FROM event_times'), [])
  })

  it('are refused by a second log once the first is noted', async () => {
    const other = await logOf(1)
    assert.equal(await noteSourceLog(clickHouse.writer, openInMemoryEventStore()), false)
    assert.ok(await noteSourceLog(clickHouse.writer, eventStore))
    assert.ok(await noteSourceLog(clickHouse.writer, eventStore))
    await assert.rejects(noteSourceLog(clickHouse.writer, other), ClickHouseUnavailable)
  })
})
