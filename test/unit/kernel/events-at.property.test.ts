import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { newEvent } from '../../../src/kernel/event.js'
import { eventsAt } from '../../../src/kernel/events-at.js'

const EVENTS = 80
const cause = { correlationId: 'c', causationId: 'c', actor: 'test' }

describe('events at positions', () => {
  it('are read each once, in the order of the log, however far they are apart', async () => {
    const store = openInMemoryEventStore()
    const events = Array.from({ length: EVENTS }, (_, n) =>
      newEvent(randomUUID(), { type: 'Counted', data: { n } }, cause),
    )
    await store.append('s', 'none', events)
    const all: bigint[] = []
    for await (const { position } of store.readAll()) all.push(position)
    await fc.assert(
      fc.asyncProperty(fc.subarray(all), async (positions) => {
        const read: bigint[] = []
        for await (const batch of eventsAt(store, positions))
          read.push(...batch.map(({ position }) => position))
        assert.deepEqual(read, positions)
      }),
    )
  })
})
