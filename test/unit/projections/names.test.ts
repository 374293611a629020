import assert from 'node:assert/strict'
import { openInMemoryBlobStore } from '../../../src/adapters/blobs/in-memory-blob-store.js'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import type { ClickHouse } from '../../../src/domain/ports/clickhouse.js'
import type { EventStore } from '../../../src/domain/ports/event-store.js'
import { projections } from '../../../src/projections/all.js'
import { callsById } from '../../../src/projections/calls/queries.js'
import { migrate } from '../../../src/projections/migrate.js'
import { startProjector } from '../../../src/projections/runtime/projector.js'
import { openTestClickHouse } from '../../support/engine.js'
import { append, PROJECT, startOf } from './given-log.js'

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }

describe('the names of calls', () => {
  let clickHouse: ClickHouse
  let eventStore: EventStore
  before(async () => {
    clickHouse = await openTestClickHouse()
    eventStore = openInMemoryEventStore()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  const nameAt = async (position: bigint) =>
    (await callsById(clickHouse.reader)(PROJECT, ['named'], position, []))[0]?.display_name

  const projected = async () => {
    const blobs = openInMemoryBlobStore()
    const projector = await startProjector({
      ...{ eventStore, blobs, clickHouse: clickHouse.writer, projections, log: quiet },
    })
    assert.ok(await projector.waitFor(await eventStore.head(), 20_000))
    await projector.stop()
  }

  it('are those given up to a position', async () => {
    const rename = (display_name: string | null) =>
      append(eventStore, 'CallRenamed', { project_id: PROJECT, id: 'named', display_name })
    const started = await append(eventStore, 'CallStarted', { ...startOf('named'), display_name: 'first' })
    const names = [
      [started, 'first'],
      [await rename('second'), 'second'],
      [await rename(null), null],
      [await rename('third'), 'third'],
    ] as const
    await projected()
    for (const [position, name] of names) assert.equal(await nameAt(position), name)
  })
})
