import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { newEvent } from '../../../../src/kernel/event.js'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import type { EventStore, Position } from '../../../../src/kernel/ports/event-store.js'
import { migrate } from '../../../../src/projections/migrate.js'
import type { Projection } from '../../../../src/projections/projection.js'
import { startProjector } from '../../../../src/projections/runtime/projector.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { until } from '../../../support/until.js'

const WAIT_MS = 60_000
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }

const noting: Projection = {
  name: 'noting',
  rowsOf: (events) => [
    { table: 'noted', columns: ['position'], values: events.map(({ position }) => [String(position)]) },
  ],
}

describe('the projector', () => {
  let clickHouse: ClickHouse
  let eventStore: EventStore
  before(async () => (clickHouse = await openTestClickHouse()))
  beforeEach(async () => {
    await migrate(clickHouse.writer)
    await clickHouse.writer.command('TRUNCATE TABLE checkpoints')
    eventStore = openInMemoryEventStore()
  })
  after(() => clickHouse.close())

  const append = async (): Promise<Position> => {
    const cause = { correlationId: randomUUID(), causationId: randomUUID(), actor: 'test' }
    const event = newEvent(randomUUID(), { type: 'Noted', data: { project_id: 'team/p' } }, cause)
    return (await eventStore.append(`noted-${randomUUID()}`, 'none', [event])).position!
  }

  /** Events after the first come from the log only once they are let pass. */
  const start = async () => {
    let letPass: () => void = () => undefined
    const gate = new Promise<void>((resolve) => (letPass = resolve))
    let isCaughtUp = false
    let inserts = 0
    let events = 0
    const projector = await startProjector({
      eventStore: {
        ...eventStore,
        async *subscribeAll(options) {
          for await (const item of eventStore.subscribeAll(options)) {
            if (item.kind === 'event' && ++events > 1) await gate
            yield item
            isCaughtUp ||= item.kind === 'caughtUp'
          }
        },
      },
      blobs: openInMemoryBlobStore(),
      clickHouse: {
        ...clickHouse.writer,
        insert: async (rows) => {
          if (rows.table === 'noted') inserts += 1
          else await clickHouse.writer.insert(rows)
        },
      },
      projections: [noting],
      log: quiet,
      gatherMs: WAIT_MS,
    })
    await until(() => isCaughtUp)
    return { projector, letPass, inserts: () => inserts }
  }

  it('lags while the log has events that did not come yet', async () => {
    const { projector, letPass } = await start()
    const first = await append()
    assert.equal(await projector.waitFor(first, WAIT_MS), true)
    const second = await append()
    await until(() => projector.lagMs() > 0)
    assert.equal(projector.behind(), 0)
    letPass()
    assert.equal(await projector.waitFor(second, WAIT_MS), true)
    assert.equal(projector.lagMs(), 0)
    await projector.stop()
  })

  it('gathers events while a reader waits for one that did not come yet', async () => {
    const { projector, letPass, inserts } = await start()
    await append()
    const last = await append()
    const read = projector.waitFor(last, WAIT_MS)
    await until(() => projector.behind() === 1)
    assert.equal(inserts(), 0)
    letPass()
    assert.equal(await read, true)
    assert.equal(inserts(), 1)
    await projector.stop()
  })
})
