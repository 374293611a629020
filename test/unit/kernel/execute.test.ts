import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { nothing, type Decider } from '../../../src/kernel/decider.js'
import { execute } from '../../../src/kernel/execute.js'
import { foldCache } from '../../../src/kernel/fold-cache.js'
import type { EventStore, RecordedEvent } from '../../../src/kernel/ports/event-store.js'
import {
  ConcurrencyConflict,
  EventTooLarge,
  StoreUnavailable,
} from '../../../src/kernel/ports/event-store-errors.js'
import { collect } from '../../contract/event-store/collect.js'
import { each } from '../../contract/event-store/erasing.js'

interface Counted {
  readonly type: 'Counted'
  readonly data: { readonly n: number; readonly by: string }
}

/** Each writer is counted once, and has the next number. */
const counting: Decider<readonly string[], string, Counted> = {
  initialState: () => [],
  evolve: (state, { data: { by } }) => [...state, by],
  decide: (state, by) =>
    state.includes(by) ? nothing : { events: [{ type: 'Counted', data: { n: state.length, by } }] },
}

const cause = { correlationId: 'c', causationId: 'c', actor: 'test' }

const writing =
  (eventStore: EventStore) =>
  (stream: string, by: string, assumeNew = false) =>
    execute({ eventStore, ids: { next: randomUUID } })(counting, stream, [by], cause, { assumeNew })

/** The same fold, kept. */
const asFold = ({ initialState, evolve }: typeof counting) => ({
  initialState,
  evolve: (state: readonly string[], { type, data }: RecordedEvent) =>
    evolve(state, { type, data } as unknown as Counted),
  weightOf: ({ length }: readonly string[]) => length,
})

const countedIn = async (eventStore: EventStore, stream: string) => {
  const counted: Counted['data'][] = []
  for await (const { data } of eventStore.readStream(stream)) counted.push(data as unknown as Counted['data'])
  return counted
}

/** A store as one process sees it, and how many events it read. */
const asProcess = (eventStore: EventStore) => {
  let events = 0
  const store: EventStore = {
    ...eventStore,
    append: (...given) => eventStore.append(...given),
    readStream: async function* (...given) {
      for await (const event of eventStore.readStream(...given)) {
        events += 1
        yield event
      }
    },
  }
  return { store, write: writing(store), eventsRead: () => events }
}

describe('commands on a long stream', () => {
  const given = async () => {
    const eventStore = openInMemoryEventStore()
    const here = asProcess(eventStore)
    for (let n = 0; n < 100; n += 1) await here.write('s', `first-${n}`)
    return { eventStore, here, elsewhere: asProcess(eventStore) }
  }

  it('read only the events since the last command', async () => {
    const { here } = await given()
    const before = here.eventsRead()
    for (let n = 0; n < 50; n += 1) await here.write('s', `more-${n}`)
    assert.ok(here.eventsRead() - before <= 50, String(here.eventsRead() - before))
  })

  it('are decided on the events of other processes, and count each once', async () => {
    const { eventStore, here, elsewhere } = await given()
    for (let n = 0; n < 30; n += 1)
      await Promise.all([
        here.write('s', `both-${n}`),
        elsewhere.write('s', `both-${n}`),
        here.write('s', `here-${n}`),
        elsewhere.write('s', `elsewhere-${n}`),
      ])
    const counted = await countedIn(eventStore, 's')
    assert.deepEqual(
      counted.map(({ n }) => n),
      counted.map((_, index) => index),
    )
    assert.equal(new Set(counted.map(({ by }) => by)).size, 190)
    assert.equal(counted.length, 190)
    const { state } = await here.write('s', 'last')
    assert.deepEqual(
      state,
      (await countedIn(eventStore, 's')).map(({ by }) => by),
    )
  })

  it('are decided on what is left after an event was erased', async () => {
    const { eventStore } = await given()
    const write = writing(eventStore)
    await write('s', 'first-0')
    const [first] = await collect(eventStore.readStream('s', { limit: 1 }))
    await eventStore.erase!(each([{ position: first!.position, data: { n: 0, by: 'erased' } }]))
    const { state } = await write('s', 'first-1')
    assert.equal(state[0], 'erased')
  })

  it('are decided as before after an append that failed', async () => {
    const { eventStore, here } = await given()
    const failing: EventStore = {
      ...here.store,
      append: () => Promise.reject(new StoreUnavailable('no disk')),
    }
    const write = writing(failing)
    await write('s', 'first-0')
    for (let time = 0; time < 2; time += 1) await assert.rejects(write('s', 'new'), StoreUnavailable)
    const { state } = await write('s', 'first-1')
    assert.deepEqual(
      state,
      (await countedIn(eventStore, 's')).map(({ by }) => by),
    )
  })
})

describe('commands on one stream', () => {
  it('are all taken, each once and on the state that it follows, however many come at once', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ by: fc.nat(60), assumeNew: fc.boolean(), later: fc.nat(20) }), {
          minLength: 30,
          maxLength: 100,
        }),
        async (writers) => {
          const eventStore = openInMemoryEventStore()
          const write = writing(eventStore)
          await Promise.all(
            writers.map(async ({ by, assumeNew, later }) => {
              for (let turn = 0; turn < later; turn += 1) await Promise.resolve()
              const { state } = await write('a', String(by), assumeNew)
              assert.ok(state.includes(String(by)))
            }),
          )
          const counted = await countedIn(eventStore, 'a')
          assert.deepEqual(
            counted.map(({ n }) => n),
            [...counted.keys()],
          )
          assert.deepEqual(
            counted.map(({ by }) => by).sort(),
            [...new Set(writers.map(({ by }) => String(by)))].sort(),
          )
          await eventStore.close()
        },
      ),
      { numRuns: 25 },
    ))

  it('say where a repeat finds what it repeats, as soon as another writer appended it', async () => {
    const eventStore = openInMemoryEventStore()
    const reload = () => stateOf('a', (loaded) => loaded)
    const stateOf = foldCache({ eventStore }, asFold(counting), 100)
    const first = await writing(eventStore)('a', 'one')
    await writing(eventStore)('b', 'other')
    const ports = { eventStore, ids: { next: randomUUID } }
    for (const options of [{}, { assumeNew: true }, { reload }]) {
      const repeat = await execute(ports)(counting, 'a', ['one'], cause, options)
      assert.deepEqual([repeat.position, repeat.readableAt], [undefined, first.position])
    }
    assert.equal(first.readableAt, first.position)
    assert.equal((await execute(ports)(counting, 'c', [], cause)).readableAt, undefined)
    await eventStore.close()
  })

  describe('that write more than one append can hold', () => {
    const big = Array.from({ length: 5 }, (_, n) => `${n}`.padEnd(300_000, 'x'))
    const writeAll = (eventStore: EventStore, options: { readonly splitAppends?: boolean }) =>
      execute({ eventStore, ids: { next: randomUUID } })(counting, 'large', big, cause, options)

    it('are refused, and nothing is written', async () => {
      const eventStore = openInMemoryEventStore()

      await assert.rejects(writeAll(eventStore, {}), EventTooLarge)
      assert.deepEqual(await countedIn(eventStore, 'large'), [])
    })

    it('are written in order in several appends for a caller that allows it', async () => {
      const eventStore = openInMemoryEventStore()

      await writeAll(eventStore, { splitAppends: true })
      assert.deepEqual(
        (await countedIn(eventStore, 'large')).map(({ by }) => by),
        big,
      )
    })
  })

  it('are given up where writers elsewhere are always faster, and hold up nobody behind them', async () => {
    const eventStore = openInMemoryEventStore()
    let isBusy = true
    let tries = 0
    const contended: EventStore = {
      ...eventStore,
      append: (stream, expected, events) => {
        if (!isBusy) return eventStore.append(stream, expected, events)
        tries += 1
        return Promise.reject(new ConcurrencyConflict(stream, expected, 'none'))
      },
    }
    const write = writing(contended)
    await assert.rejects(write('a', 'first'), StoreUnavailable)
    assert.equal(tries, 6)
    isBusy = false
    await Promise.all([write('a', 'second'), write('a', 'third'), write('b', 'second')])
    assert.equal((await countedIn(eventStore, 'a')).length, 2)
    await eventStore.close()
  })
})
