import assert from 'node:assert/strict'
import { openInMemoryBlobStore } from '../../../src/adapters/blobs/in-memory-blob-store.js'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { systemIds, sha256, systemClock } from '../../../src/adapters/system/system.js'
import { digestedRows, publishTable } from '../../../src/application/tables/publish-table.js'
import { rowDigestsOf } from '../../../src/application/tables/row-digests.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import { EventTooLarge, StoreUnavailable } from '../../../src/kernel/ports/event-store-errors.js'

const PROJECT = 'team/project'
const CAUSE = { correlationId: 'request', causationId: 'request', actor: 'user' }

/** A store whose appends take one event each, and which is gone after so many of them. */
const failingAfter = (store: EventStore, appends: number): EventStore => {
  let left = appends
  return {
    ...store,
    append: async (stream, expected, events) => {
      if (events.length > 1) throw new EventTooLarge('one event at a time')
      if (left === 0) throw new StoreUnavailable('gone')
      left -= 1
      return store.append(stream, expected, events)
    },
  }
}

describe('a table whose making was cut off', () => {
  const rows = Array.from({ length: 4 }, (_, i) => ({ i, text: 'x'.repeat(700_000) }))

  const write = async (eventStore: EventStore) => {
    const ports = { eventStore, blobs: openInMemoryBlobStore(), ids: systemIds, sha256, clock: systemClock }
    const { digests, contents } = await digestedRows(sha256, rows)
    const table = { projectId: PROJECT, userId: 'user', rowDigests: digests, contents: contents.values() }
    return { ports, digests, ...(await publishTable(ports)(table, CAUSE)) }
  }

  const typesIn = async (store: EventStore): Promise<readonly string[]> => {
    const types: string[] = []
    for await (const { type } of store.readAll()) types.push(type)
    return types
  }

  const WHOLE = [...rows.map(() => 'TableRowsStored'), 'TablePublished']

  it('is not there, and is completed by the same request again, wherever it was cut off', async () => {
    for (let appends = 0; appends < WHOLE.length; appends += 1) {
      const store = openInMemoryEventStore()
      await assert.rejects(write(failingAfter(store, appends)), StoreUnavailable)
      assert.deepEqual(await typesIn(store), WHOLE.slice(0, appends))
      const { ports, digest, digests, position } = await write(store)
      assert.deepEqual(await typesIn(store), WHOLE)
      assert.deepEqual(await rowDigestsOf(ports)(PROJECT, digest), digests)
      assert.equal(position, await store.head())
      assert.equal((await write(store)).position, position)
    }
  })
})
