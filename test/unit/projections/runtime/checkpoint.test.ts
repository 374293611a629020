import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { ClickHouseUnavailable, type ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import type { EventStore, RecordedEvent } from '../../../../src/kernel/ports/event-store.js'
import { projections } from '../../../../src/projections/all.js'
import { dropTables, migrate } from '../../../../src/projections/migrate.js'
import {
  claimDatabase,
  findLogMismatch,
  readCheckpoint,
} from '../../../../src/projections/runtime/checkpoint.js'
import { startProjector } from '../../../../src/projections/runtime/projector.js'
import { appendNext } from '../../../support/append-next.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { until } from '../../../support/until.js'
import { append, startOf } from '../given-log.js'

const EVENTS = 5
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }

describe('the checkpoint of read models', () => {
  let clickHouse: ClickHouse
  let eventStore: EventStore

  const logOf = async (events: number): Promise<EventStore> => {
    const store = openInMemoryEventStore()
    for (let index = 0; index < events; index += 1) await append(store, 'CallStarted', startOf(`c-${index}`))
    return store
  }

  const mismatchWith = async (log: EventStore) => (await findLogMismatch(clickHouse.writer, log))?.kind

  const start = (store: Pick<EventStore, 'subscribeAll' | 'readStream' | 'head'> = eventStore) =>
    startProjector({
      eventStore: store,
      blobs: openInMemoryBlobStore(),
      clickHouse: clickHouse.writer,
      projections,
      log: quiet,
    })

  beforeEach(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
    eventStore = await logOf(EVENTS)
    const projector = await start()
    assert.ok(await projector.waitFor(await eventStore.head(), 30_000))
    await projector.stop()
  })
  afterEach(() => clickHouse.close())

  it('belongs to its log, also after the log has grown', async () => {
    assert.equal(await mismatchWith(eventStore), undefined)
    await append(eventStore, 'CallStarted', startOf('later'))
    assert.equal(await mismatchWith(eventStore), undefined)
  })

  it('advances past events of other programs, which no rows are inserted for', async () => {
    const last = await eventStore.head()
    const moved = new AbortController()
    const projector = await start({
      ...eventStore,
      async *subscribeAll() {
        for (let n = 1n; !moved.signal.aborted; n += 1n) {
          yield { kind: 'checkpoint', position: last + n }
          await setTimeout(100)
        }
      },
    })

    await until(async () => (await readCheckpoint(clickHouse.writer)).position > last)

    moved.abort()
    await projector.stop()
  })

  it('belongs to no shorter, equally long or longer log of other events', async () => {
    for (const length of [EVENTS, EVENTS + 2])
      assert.equal(await mismatchWith(await logOf(length)), 'log_mismatch')
    assert.equal(await mismatchWith(await logOf(EVENTS - 1)), 'log_shorter_than_checkpoint')
    assert.equal(await mismatchWith(openInMemoryEventStore()), 'log_shorter_than_checkpoint')
  })

  it('does not belong to a copy that has the same events at other positions', async () => {
    const shifted: EventStore = {
      ...eventStore,
      async *readStream(stream, options) {
        for await (const event of eventStore.readStream(stream, options))
          yield { ...event, position: event.position + 1000n }
      },
    }
    assert.equal(await mismatchWith(shifted), 'log_mismatch')
  })

  it('does not belong to a log that was restored to an earlier state, or has grown since', async () => {
    const restored = openInMemoryEventStore()
    for await (const event of eventStore.readAll({ limit: EVENTS - 1 }))
      await appendNext(restored, event.stream, [event])
    assert.equal(await mismatchWith(restored), 'log_shorter_than_checkpoint')
    await append(restored, 'CallStarted', startOf('other'))
    assert.equal(await mismatchWith(restored), 'log_mismatch')
  })

  it('belongs to any log once the tables are dropped, also when that was cut off at any statement', async () => {
    const other = await logOf(EVENTS)
    for (let statements = 0; ; statements += 1) {
      let left = statements
      const command = (sql: string) =>
        (left -= 1) < 0 ? Promise.reject(new Error('cut off')) : clickHouse.writer.command(sql)
      const isDropped = await dropTables({ ...clickHouse.writer, command }).then(
        () => true,
        () => false,
      )
      if (isDropped) break
      const kind = await mismatchWith(other)
      const [remaining] = await clickHouse.writer.query<{ tables: number }>(
        "SELECT count() AS tables FROM system.tables WHERE database = currentDatabase() AND name = 'checkpoints'",
      )
      assert.equal(kind, remaining?.tables === 0 ? undefined : 'log_mismatch')
    }
    await migrate(clickHouse.writer)
    assert.equal(await mismatchWith(other), undefined)
    assert.equal((await readCheckpoint(clickHouse.writer)).position, 0n)
  })

  it('is claimed by the first log only', async () => {
    await dropTables(clickHouse.writer)
    await migrate(clickHouse.writer)
    const other = await logOf(1)
    const firstOf = async (log: EventStore): Promise<RecordedEvent> => {
      for await (const event of log.readAll({ limit: 1 })) return event
      throw new Error('the log is empty')
    }
    await claimDatabase(clickHouse.writer, eventStore, await firstOf(eventStore))
    await claimDatabase(clickHouse.writer, eventStore, await firstOf(eventStore))
    await assert.rejects(claimDatabase(clickHouse.writer, other, await firstOf(other)), ClickHouseUnavailable)
    assert.equal(await mismatchWith(eventStore), undefined)
    assert.notEqual(await mismatchWith(other), undefined)
  })

  it('advances past what is not for it, so that the next start does not read it again', async () => {
    const asked: bigint[] = []
    const head = await eventStore.head()
    const store = {
      ...eventStore,
      async *subscribeAll({ after = 0n, signal }: Parameters<EventStore['subscribeAll']>[0] = {}) {
        asked.push(after)
        yield { kind: 'caughtUp' } as const
        yield { kind: 'checkpoint', position: 700n } as const
        if (signal?.aborted === false) await once(signal, 'abort')
      },
    }
    const projector = await start(store)
    assert.equal(await projector.waitFor(700n, 10_000), true)
    await projector.stop()
    assert.equal((await readCheckpoint(clickHouse.writer)).position, 700n)
    assert.equal(await mismatchWith(eventStore), undefined)

    await (await start(store)).stop()
    assert.deepEqual(asked, [head, 700n])
  })
})
