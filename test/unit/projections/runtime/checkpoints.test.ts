import assert from 'node:assert/strict'
import { once } from 'node:events'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import type { ClickHouse } from '../../../../src/domain/ports/clickhouse.js'
import type { TailItem } from '../../../../src/domain/ports/event-store.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { readCheckpoint } from '../../../../src/projections/runtime/checkpoint.js'
import { startProjector } from '../../../../src/projections/runtime/projector.js'
import { openTestClickHouse } from '../../../support/engine.js'

describe('a projector whose store holds much that is not for it', () => {
  let clickHouse: ClickHouse
  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  it('goes on past it, so that the next start does not read it again', async () => {
    const asked: bigint[] = []
    const items: readonly TailItem[] = [{ kind: 'caughtUp' }, { kind: 'checkpoint', position: 700n }]
    const start = () =>
      startProjector({
        eventStore: {
          ...openInMemoryEventStore(),
          async *subscribeAll({ after = 0n, signal } = {}) {
            asked.push(after)
            yield* items
            if (signal?.aborted === false) await once(signal, 'abort')
          },
        },
        blobs: openInMemoryBlobStore(),
        clickHouse: clickHouse.writer,
        projections: [],
        log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      })

    const projector = await start()
    assert.equal(await projector.waitFor(700n, 10_000), true)
    await projector.stop()
    assert.equal(await readCheckpoint(clickHouse.writer), 700n)

    await (await start()).stop()
    assert.deepEqual(asked, [0n, 700n])
  })
})
