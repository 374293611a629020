import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { newEvent } from '../../../src/kernel/event.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import { startReactor, type Reactor, type RunningReactor } from '../../../src/kernel/reactor.js'
import { afterEvents } from '../../support/append-next.js'
import { until } from '../../support/until.js'

type Numbers = readonly number[]

const CAUSE = { correlationId: 'c', causationId: 'c', actor: 'test' }
const DAY_MS = 24 * 60 * 60 * 1000

const givenLog = () => {
  const eventStore = openInMemoryEventStore()
  let appended = 0
  const append = async (type: string, ...numbers: Numbers) => {
    const events = numbers.map((n) => newEvent(randomUUID(), { type, data: { n } }, CAUSE))
    const { position } = await eventStore.append('s', afterEvents(appended), events)
    appended += numbers.length
    return position!
  }
  return { eventStore, append }
}

describe('a reactor', () => {
  const file: { text: string | undefined; writes: number } = { text: undefined, writes: 0 }
  const running: RunningReactor<Numbers>[] = []
  let logged: string[]

  beforeEach(() => {
    Object.assign(file, { text: undefined, writes: 0 })
    logged = []
  })
  afterEach(async () => {
    for (const reactor of running.splice(0)) await reactor.stop()
  })

  const start = async (
    eventStore: EventStore,
    react: Reactor<Numbers>['react'] = () => undefined,
    saveEveryMs = DAY_MS,
  ) => {
    const delivered: number[] = []
    const reactor = await startReactor<Numbers>(
      {
        name: 'numbers',
        types: new Set(['Counted']),
        initialState: () => [],
        evolve: (numbers, { data }) => {
          const n = Number(data['n'])
          return numbers.includes(n) ? numbers : [...numbers, n]
        },
        react: (numbers, event, reacting) => {
          delivered.push(Number(event.data['n']))
          return react(numbers, event, reacting)
        },
        snapshot: {
          encode: (numbers) => [...numbers],
          decode: (encoded) => (Array.isArray(encoded) ? encoded.map(Number) : undefined),
        },
      },
      {
        eventStore,
        snapshots: {
          read: () => Promise.resolve(file.text),
          write: (text) => {
            file.text = text
            file.writes += 1
            return Promise.resolve()
          },
        },
        log: { info: () => undefined, warn: (event) => void logged.push(event) },
      },
      saveEveryMs,
    )
    running.push(reactor)
    return { reactor, delivered }
  }

  it('folds and reacts to events of its types, and advances past others', async () => {
    const { eventStore, append } = givenLog()
    await append('Counted', 1)
    await append('Other', 2)
    const { reactor, delivered } = await start(eventStore)
    assert.equal(await reactor.caughtUp(5000), true)
    await append('Counted', 3)
    assert.equal(await reactor.waitFor(await append('Other', 4), 5000), true)
    assert.deepEqual(
      [delivered, reactor.state()],
      [
        [1, 3],
        [1, 3],
      ],
    )
  })

  it('continues after the event of the snapshot that it saved when it stopped', async () => {
    const { eventStore, append } = givenLog()
    await append('Counted', 1, 2)
    const first = await start(eventStore)
    await first.reactor.caughtUp(5000)
    await first.reactor.stop()
    await append('Counted', 3)
    const second = await start(eventStore)
    assert.equal(await second.reactor.caughtUp(5000), true)
    assert.deepEqual([second.delivered, second.reactor.state(), logged], [[3], [1, 2, 3], []])
  })

  it('is caught up at once when nothing was written since its snapshot, and saves nothing', async () => {
    const { eventStore, append } = givenLog()
    await append('Counted', 1)
    const first = await start(eventStore)
    await first.reactor.caughtUp(5000)
    await first.reactor.stop()
    const { reactor } = await start(eventStore)
    assert.equal(reactor.isCaughtUp(), true)
    await reactor.stop()
    assert.equal(file.writes, 1)
  })

  it('saves regularly', async () => {
    const { eventStore, append } = givenLog()
    await append('Counted', 1)
    await start(eventStore, undefined, 5)
    await until(() => file.writes === 1)
    await append('Counted', 2)
    await until(() => file.writes === 2)
  })

  it('starts from the beginning of the log when the snapshot is of another log', async () => {
    const [own, other] = [givenLog(), givenLog()]
    await own.append('Counted', 1)
    await other.append('Counted', 2)
    const first = await start(own.eventStore)
    await first.reactor.caughtUp(5000)
    await first.reactor.stop()
    const { reactor, delivered } = await start(other.eventStore)
    await reactor.caughtUp(5000)
    assert.deepEqual([delivered, reactor.state(), logged], [[2], [2], ['numbers.snapshot_rejected']])
  })

  it('starts from the beginning of the log when the snapshot is of an earlier release, or corrupt', async () => {
    const { eventStore, append } = givenLog()
    await append('Counted', 1)
    const first = await start(eventStore)
    await first.reactor.caughtUp(5000)
    await first.reactor.stop()
    const { anchor, state, version, checksum } = JSON.parse(file.text!) as {
      readonly checksum: string
      readonly anchor: { readonly position: string }
      readonly state: Numbers
      readonly version: number
    }
    const former = [
      { requested: [], logged: [], position: anchor.position, anchor },
      { version: '1', position: anchor.position, anchor, teams: [], accounts: [], open: [] },
      { version: 2, anchor, state },
      { version: version + 1, checksum, anchor, state },
      { version, checksum, anchor, state: {} },
      // Changed by hand.
      { version, checksum, anchor, state: [2] },
      { version, checksum, anchor: { ...anchor, position: '99' }, state },
    ].map((snapshot) => JSON.stringify(snapshot))
    const arbitrarySnapshot = fc.oneof(fc.constantFrom(...former), fc.string(), fc.json())
    await fc.assert(
      fc.asyncProperty(arbitrarySnapshot, async (text) => {
        file.text = text
        logged = []
        const { reactor, delivered } = await start(eventStore)
        assert.equal(await reactor.caughtUp(5000), true)
        assert.deepEqual([delivered, logged], [[1], ['numbers.snapshot_rejected']])
        await reactor.stop()
      }),
      { numRuns: 50, examples: former.map((text) => [text]) },
    )
  })

  it('delivers an event again after a crash between the reaction and the snapshot', async () => {
    const { eventStore, append } = givenLog()
    await append('Counted', 1)
    const first = await start(eventStore)
    await first.reactor.caughtUp(5000)
    await first.reactor.stop()
    await append('Counted', 2)
    const killed = await start(eventStore)
    await killed.reactor.caughtUp(5000)
    const second = await start(eventStore)
    await second.reactor.caughtUp(5000)
    assert.deepEqual([killed.delivered, second.delivered], [[2], [2]])
  })

  it('delivers an event again when its reaction fails, before the next event', async () => {
    const { eventStore, append } = givenLog()
    await append('Counted', 1, 2)
    let failures = 0
    const { reactor, delivered } = await start(eventStore, () =>
      failures++ === 0 ? Promise.reject(new Error('away')) : undefined,
    )
    assert.equal(await reactor.caughtUp(5000), true)
    assert.deepEqual(
      [delivered, reactor.state(), logged],
      [[1, 1, 2], [1, 2], ['numbers.subscription_failed']],
    )
  })

  it('delivers events again that were held when it stopped', async () => {
    const { eventStore, append } = givenLog()
    await append('Counted', 1, 2, 3, 4)
    const first = await start(eventStore, (_, { data }, { hold }) => {
      if (data['n'] === 2) hold()()
      if (data['n'] === 3) hold()
      return undefined
    })
    await first.reactor.caughtUp(5000)
    await first.reactor.stop()
    const { reactor, delivered } = await start(eventStore)
    await reactor.caughtUp(5000)
    assert.deepEqual(
      [delivered, reactor.state()],
      [
        [3, 4],
        [1, 2, 3, 4],
      ],
    )
  })

  it('is not caught up when it is stopped before the end of the log', async () => {
    const { eventStore, append } = givenLog()
    await append('Counted', 1, 2)
    const { reactor } = await start(eventStore, () => new Promise<void>((done) => setTimeout(done, 50)))
    const waiting = reactor.caughtUp(Infinity)
    await until(() => reactor.state().length === 1)
    await reactor.stop()
    assert.deepEqual([await waiting, reactor.isCaughtUp(), reactor.state()], [false, false, [1]])
  })
})
