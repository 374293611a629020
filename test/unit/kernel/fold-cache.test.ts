import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { newEvent } from '../../../src/kernel/event.js'
import { foldCache } from '../../../src/kernel/fold-cache.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import { StoreUnavailable } from '../../../src/kernel/ports/event-store-errors.js'
import { each } from '../../contract/event-store/erasing.js'
import { afterEvents } from '../../support/append-next.js'

const cause = { correlationId: 'c', causationId: 'c', actor: 'test' }
const anEvent = (n: number) => newEvent(randomUUID(), { type: 'Counted', data: { n } }, cause)

/** A fold that changes its state in place and would tell an event that is taken twice, or left out. */
const listing = {
  initialState: (): number[] => [],
  evolve: (state: number[], { data, revision }: { readonly data: object; readonly revision: bigint }) => {
    assert.equal(revision, BigInt(state.length))
    state.push((data as { n: number }).n)
    return state
  },
  weightOf: (state: number[]) => state.length,
}

const listed = ({ state }: { readonly state: number[] }) => [...state]

const streams = ['a', 'b', 'c', 'd']

type Step =
  { readonly append: readonly number[]; readonly stream: string } | { readonly look: readonly string[] }

const arbitrarySteps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({
      stream: fc.constantFrom(...streams),
      append: fc.array(fc.nat(9), { minLength: 1, maxLength: 4 }),
    }),
    fc.record({ look: fc.array(fc.constantFrom(...streams), { minLength: 1, maxLength: 6 }) }),
  ),
  { maxLength: 20 },
)

describe('folds that are kept', () => {
  it('are read again after events of their streams were erased, also while they are read', async () => {
    const eventStore = openInMemoryEventStore()
    const stateOf = foldCache({ eventStore }, listing, 100)
    await eventStore.append('a', 'none', [anEvent(1), anEvent(2)])
    assert.deepEqual(await stateOf('a', listed), [1, 2])
    const position = (await eventStore.head()) / 2n
    const looking = stateOf('a', listed)
    await eventStore.erase!(each([{ position, data: { n: 0 } }]))
    await looking
    assert.deepEqual(await stateOf('a', listed), [0, 2])
  })

  it('are what the log says, whoever writes meanwhile, however many look, and however little is kept', () =>
    fc.assert(
      fc.asyncProperty(arbitrarySteps, fc.nat(12), async (steps, most) => {
        const eventStore = openInMemoryEventStore()
        const stateOf = foldCache({ eventStore }, listing, most)
        const expected = new Map<string, number[]>()
        for (const step of steps)
          if ('look' in step)
            await Promise.all(
              step.look.map((stream) =>
                stateOf(stream, ({ state, expected: revision }) => {
                  const numbers = expected.get(stream) ?? []
                  assert.deepEqual(state, numbers)
                  assert.equal(revision, numbers.length === 0 ? 'none' : BigInt(numbers.length - 1))
                }),
              ),
            )
          else {
            const before = expected.get(step.stream) ?? []
            await eventStore.append(step.stream, afterEvents(before.length), step.append.map(anEvent))
            expected.set(step.stream, [...before, ...step.append])
          }
        await eventStore.close()
      }),
    ))

  /** A store that counts what is read of it, and fails when it is told to. */
  const given = () => {
    const store = openInMemoryEventStore()
    const told = { reads: 0, failing: false }
    const readStream: EventStore['readStream'] = async function* (...range) {
      for await (const event of store.readStream(...range)) {
        if (told.failing && event.revision === 1n) throw new Error('no')
        told.reads += 1
        yield event
      }
    }
    return { eventStore: { ...store, readStream }, told }
  }

  it('read what came since, and nothing twice', async () => {
    const { eventStore, told } = given()
    const stateOf = foldCache({ eventStore }, listing, 100)
    await eventStore.append('a', 'none', [1, 2, 3].map(anEvent))
    await stateOf('a', listed)
    await eventStore.append('a', 2n, [4].map(anEvent))
    assert.deepEqual(await stateOf('a', listed), [1, 2, 3, 4])
    assert.equal(told.reads, 4)
  })

  it('change the state in place when events follow, however large it is', async () => {
    const { eventStore, told } = given()
    const stateOf = foldCache({ eventStore }, listing, 100)
    await eventStore.append(
      'a',
      'none',
      Array.from({ length: 1000 }, (_, n) => anEvent(n)),
    )
    const before = await stateOf('a', ({ state }) => state)
    await eventStore.append('a', 999n, [anEvent(1000)])
    const [after, length] = await stateOf('a', ({ state }) => [state, state.length])
    assert.equal(after, before)
    assert.deepEqual([length, told.reads], [1001, 1001])
  })

  it('show each reader the state of one revision, while others read on', async () => {
    const { eventStore } = given()
    const stateOf = foldCache({ eventStore }, listing, 100)
    const looks: Promise<void>[] = []
    for (let n = 0; n < 20; n += 1) {
      await eventStore.append('a', afterEvents(n), [anEvent(n)])
      for (let reader = 0; reader < 3; reader += 1)
        looks.push(stateOf('a', ({ state, expected }) => assert.equal(expected, BigInt(state.length - 1))))
    }
    await Promise.all(looks)
  })

  it('keep the one in use even where it alone is too much', async () => {
    const { eventStore, told } = given()
    const stateOf = foldCache({ eventStore }, listing, 1)
    await eventStore.append('a', 'none', [1, 2, 3].map(anEvent))
    await stateOf('a', listed)
    await stateOf('a', listed)
    assert.equal(told.reads, 3)
    await eventStore.append('b', 'none', [1].map(anEvent))
    await stateOf('b', listed)
    await stateOf('a', listed)
    assert.equal(told.reads, 7)
  })

  it('go on after a read that failed half-way', async () => {
    const { eventStore, told } = given()
    const stateOf = foldCache({ eventStore }, listing, 100)
    await eventStore.append('a', 'none', [1, 2, 3].map(anEvent))
    told.failing = true
    await assert.rejects(stateOf('a', listed))
    told.failing = false
    assert.deepEqual(await stateOf('a', listed), [1, 2, 3])
  })

  it('ask a store that is away once for all who look at the same time', async () => {
    const store = openInMemoryEventStore()
    let asked = 0
    let isAway = true
    const readStream: EventStore['readStream'] = async function* (...range) {
      asked += 1
      if (isAway) throw new StoreUnavailable('away')
      yield* store.readStream(...range)
    }
    const stateOf = foldCache({ eventStore: { ...store, readStream } }, listing, 100)
    const looks = await Promise.allSettled([stateOf('a', listed), stateOf('a', listed), stateOf('a', listed)])
    assert.deepEqual([looks.map(({ status }) => status), asked], [Array(3).fill('rejected'), 1])
    isAway = false
    await store.append('a', 'none', [anEvent(1)])
    assert.deepEqual(await stateOf('a', listed), [1])
  })
})
