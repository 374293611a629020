import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { openInMemoryEventStore } from '../../src/adapters/event-store/in-memory.js'
import { notedWrites } from '../../src/api/noted-writes.js'
import { readingFrom } from '../../src/api/reading.js'
import { instantOf } from '../../src/domain/codec/instant.js'
import { callStream } from '../../src/domain/call/events.js'
import { newEvent } from '../../src/domain/event.js'
import type { Position } from '../../src/domain/ports/event-store.js'

const cause = { correlationId: 'c', causationId: 'c', actor: 'test' }
const anEvent = () => newEvent(randomUUID(), { type: 'Happened', data: {} }, cause)

/** A projector that is asked to come to positions, and is there at once. */
const projector = () => {
  const asked: Position[] = []
  return {
    asked,
    reached: () => asked.at(-1) ?? 0n,
    waitFor: async (position: Position) => asked.push(position) > 0,
    generation: () => '0',
  }
}

const noHistory = {
  head: async () => 0n,
  lastBy: async () => 0n,
  now: () => instantOf(new Date(0)),
}

describe('a write of a request that goes on', () => {
  it('is waited for by readers of its project once it stands, and by those of no other', async () => {
    const eventStore = openInMemoryEventStore()
    const seen = projector()
    const reading = readingFrom(seen, noHistory, 0n)
    const noted = notedWrites(eventStore, reading)
    await noted.append('access-directory', 'none', [anEvent()])
    const { position } = await noted.append(callStream('team/one', 'c'), 'none', [anEvent(), anEvent()])
    assert.equal(reading.ackPosition('team/one', undefined), position)
    await reading.waitForNow('team/one', {})
    await reading.waitForNow('team/two', {})
    assert.deepEqual(seen.asked, [position, 0n])
    await eventStore.close()
  })

  it('is not noted where it was refused', async () => {
    const eventStore = openInMemoryEventStore()
    const reading = readingFrom(projector(), noHistory, 0n)
    const noted = notedWrites(eventStore, reading)
    await assert.rejects(noted.append(callStream('team/one', 'c'), 7n, [anEvent()]))
    assert.equal(reading.ackPosition('team/one', undefined), 0n)
    await eventStore.close()
  })
})
