import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { openInMemoryEventStore } from '../../src/adapters/event-store/in-memory.js'
import { notedWrites } from '../../src/api/noted-writes.js'
import { readingFrom } from '../../src/api/reading.js'
import { instantOf } from '../../src/domain/codec/instant.js'
import { callStream } from '../../src/domain/call/events.js'
import type { Decider } from '../../src/domain/decider.js'
import { newEvent } from '../../src/domain/event.js'
import { execute } from '../../src/domain/execute.js'
import type { EventStore, Position } from '../../src/domain/ports/event-store.js'
import { ConcurrencyConflict } from '../../src/domain/ports/event-store-errors.js'

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

const doNothing: Decider<null, string, { readonly type: 'Done'; readonly data: object }> = {
  initialState: null,
  evolve: (state) => state,
  decide: () => ({ events: [] }),
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
    assert.equal(reading.acknowledged('team/one', undefined), position)
    await reading.current('team/one', {})
    await reading.current('team/two', {})
    assert.deepEqual(seen.asked, [position, 0n])
    await eventStore.close()
  })

  it('queues with the writers of its stream that do not go through the API', async () => {
    const eventStore = openInMemoryEventStore()
    const noted = notedWrites(eventStore, readingFrom(projector(), noHistory, 0n))
    const order: string[] = []
    let reads = 0
    /** Meets a conflict at first, then queues and takes its time. */
    const slow = async () => {
      reads += 1
      if (reads === 1) throw new ConcurrencyConflict('thing', 'none', 0n)
      await sleep(50)
      order.push('slow')
      return { state: null, expected: 'none' as const }
    }
    const fast = async () => {
      order.push('fast')
      return { state: null, expected: 'none' as const }
    }
    const write = (store: EventStore, reload: typeof fast) =>
      execute({ eventStore: store, ids: { next: randomUUID } })(doNothing, 'thing', ['do'], cause, { reload })

    const first = write(eventStore, slow)
    await setImmediate()
    await Promise.all([first, write(noted, fast)])
    assert.deepEqual(order, ['slow', 'fast'])
  })

  it('is not noted where it was refused', async () => {
    const eventStore = openInMemoryEventStore()
    const reading = readingFrom(projector(), noHistory, 0n)
    const noted = notedWrites(eventStore, reading)
    await assert.rejects(noted.append(callStream('team/one', 'c'), 7n, [anEvent()]))
    assert.equal(reading.acknowledged('team/one', undefined), 0n)
    await eventStore.close()
  })
})
