import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { sharedTail } from '../../../../src/adapters/event-store/shared-tail.js'
import { newEvent } from '../../../../src/kernel/event.js'
import type { EventStore, Position, TailItem } from '../../../../src/kernel/ports/event-store.js'
import { until } from '../../../support/until.js'

const cause = { correlationId: 'c', causationId: 'c', actor: 'a' }
const TYPES = ['ProjectCreated', 'TeamCreated', 'UserCreated'] as const

const arbitraryFollower = fc.record({
  types: fc.option(fc.subarray([...TYPES]), { nil: undefined }),
  /** Appends before it subscribes. */
  joinsAfter: fc.nat(30),
  /** Turns of the event loop that it takes for an event. */
  slowness: fc.nat(2),
})

describe('followers that share a subscription', () => {
  it('get each event of their types once and in order, and know the end of the log', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 40 }), { maxLength: 30 }),
        fc.array(arbitraryFollower, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 100 }),
        fc.constantFrom(20, 5000),
        async (appends, followers, events, patienceMs) => {
          const store = openInMemoryEventStore()
          const { subscribe, counted } = counting(store)
          const subscribeAll = sharedTail(subscribe, { events, characters: Infinity, joinMs: 0, patienceMs })
          const stopping = new AbortController()
          const seen = followers.map((): TailItem[] => [])
          const running: Promise<void>[] = []
          const follow = async ({ types, slowness }: (typeof followers)[number], items: TailItem[]) => {
            const options = { types: types && new Set<string>(types), signal: stopping.signal }
            for await (const item of subscribeAll(options)) {
              items.push(item)
              for (let turn = 0; turn < slowness; turn += 1) await setImmediate()
            }
          }
          const join = (at: number) =>
            followers.forEach((follower, index) => {
              if (Math.min(follower.joinsAfter, appends.length) === at)
                running.push(follow(follower, seen[index]!))
            })
          for (const [at, types] of appends.entries()) {
            join(at)
            await setImmediate()
            const events = types.map((type) => newEvent(crypto.randomUUID(), { type, data: {} }, cause))
            await store.append(`s-${at}`, 'none', events)
          }
          join(appends.length)
          const head = await store.head()
          const reached = (items: readonly TailItem[]) =>
            items.reduce<Position>((last, item) => (item.kind === 'caughtUp' ? last : positionOf(item)), 0n)
          await until(() => seen.every((items) => reached(items) === head))
          await until(() => seen.every((items) => items.some(({ kind }) => kind === 'caughtUp')))
          stopping.abort()
          await Promise.all(running)
          await until(() => counted.open === 0)

          const all = appends.flat()
          followers.forEach(({ types }, index) => {
            const items = seen[index]!
            const positions = items.flatMap((item) => (item.kind === 'caughtUp' ? [] : [positionOf(item)]))
            assert.deepEqual(positions, [...positions].sort(byPosition))
            const got = items.flatMap((item) => (item.kind === 'event' ? [item.event.type] : []))
            assert.deepEqual(
              got,
              all.filter((type) => types === undefined || types.includes(type)),
            )
            assert.equal(items.filter(({ kind }) => kind === 'caughtUp').length, 1)
          })
          await store.close()
        },
      ),
      { numRuns: 50 },
    ))

  it('keep one subscription open once they have caught up, and none when they have ended', async () => {
    const store = openInMemoryEventStore()
    const { subscribe, counted } = counting(store)
    const subscribeAll = sharedTail(subscribe)
    const stopping = new AbortController()
    await store.append('s', 'none', [newEvent(crypto.randomUUID(), { type: TYPES[0], data: {} }, cause)])
    let seen = 0
    const followers = Array.from({ length: 5 }, async () => {
      for await (const item of subscribeAll({ signal: stopping.signal })) if (item.kind === 'event') seen += 1
    })
    await until(() => seen === 5 && counted.open === 1)
    await store.append('t', 'none', [newEvent(crypto.randomUUID(), { type: TYPES[1], data: {} }, cause)])
    await until(() => seen === 10)
    assert.equal(counted.open, 1)
    stopping.abort()
    await Promise.all(followers)
    await until(() => counted.open === 0)
  })

  it('leave no subscription open when they end at any moment', async () => {
    const store = openInMemoryEventStore()
    const { subscribe, counted } = counting(store)
    for (let turns = 0; turns < 40; turns += 1) {
      const subscribeAll = sharedTail(subscribe)
      const stopping = new AbortController()
      for await (const { kind } of subscribeAll({ types: new Set(TYPES), signal: stopping.signal }))
        if (kind === 'caughtUp') void afterTurns(turns).then(() => stopping.abort())
    }
    await until(() => counted.open === 0)
    await store.close()
  })

  it('catch up together with a log that is longer than what is kept', async () => {
    const store = await storeOf(500)
    const { subscribe, counted } = counting(store)
    const subscribeAll = sharedTail(subscribe, { events: 10 })
    const stopping = new AbortController()
    const seen = [0, 0, 0, 0]
    const follow = async (types: ReadonlySet<string> | undefined, index: number) => {
      for await (const item of subscribeAll({ types, signal: stopping.signal }))
        if (item.kind === 'event') seen[index]! += 1
    }
    const typed = new Set([TYPES[0]])
    const followers = [undefined, typed, undefined, typed].map(follow)
    await until(() => seen.every((events) => events === 500))
    assert.equal(counted.opened, 1)
    stopping.abort()
    await Promise.all(followers)
    await store.close()
  })

  it('read the rest of the log once when some start later', async () => {
    const store = await storeOf(500)
    const { subscribe, counted } = counting(store)
    const subscribeAll = sharedTail(subscribe, { events: 10, joinMs: 0 })
    const stopping = new AbortController()
    const seen = [0, 0]
    const followers: Promise<void>[] = []
    const follow = async (index: number) => {
      for await (const item of subscribeAll({ signal: stopping.signal })) {
        if (item.kind === 'event') seen[index]! += 1
        if (seen[0] === 50 && followers.length === 1) followers.push(follow(1))
      }
    }
    followers.push(follow(0))
    await until(() => seen.every((events) => events === 500))
    assert.ok(counted.delivered < 700, `${counted.delivered} events were delivered`)
    stopping.abort()
    await Promise.all(followers)
    await store.close()
  })

  it('go on without one that stands still, which then reads alone until it has caught up', async () => {
    const store = await storeOf(100)
    const { subscribe, counted } = counting(store)
    const subscribeAll = sharedTail(subscribe, { events: 10, joinMs: 0, patienceMs: 5 })
    const stopping = new AbortController()
    const seen = [0, 0]
    let resume = () => undefined as unknown
    const resumed = new Promise<void>((resolve) => (resume = resolve))
    const follow = async (index: number) => {
      for await (const item of subscribeAll({ signal: stopping.signal })) {
        if (item.kind === 'event') seen[index]! += 1
        if (index === 1) await resumed
      }
    }
    const followers = [follow(0), follow(1)]
    await until(() => seen[0] === 100)
    assert.equal(seen[1], 1)
    resume()
    await until(() => seen[1] === 100 && counted.open === 1)
    assert.equal(counted.opened, 2)
    stopping.abort()
    await Promise.all(followers)
    await store.close()
  })

  it('go on when the last one that had caught up ends while another joins it', async () => {
    const store = openInMemoryEventStore()
    let closing = () => undefined as unknown
    const subscribeAll = sharedTail(async function* (options) {
      try {
        yield* store.subscribeAll(options)
      } finally {
        await closing()
      }
    })
    const append = (stream: string) =>
      store.append(stream, 'none', [newEvent(crypto.randomUUID(), { type: TYPES[0], data: {} }, cause)])
    const follow = async (items: TailItem[], { signal }: AbortController) => {
      for await (const item of subscribeAll({ signal })) items.push(item)
    }
    const [first, second] = [new AbortController(), new AbortController()]
    const [firstItems, items]: [TailItem[], TailItem[]] = [[], []]
    const ofFirst = follow(firstItems, first)
    await until(() => firstItems.some(({ kind }) => kind === 'caughtUp'))
    await append('s')
    await until(() => firstItems.some(({ kind }) => kind === 'event'))

    // The second one leaves its own subscription for that of the first, which ends meanwhile.
    closing = async () => {
      closing = () => undefined
      first.abort()
      await ofFirst
    }
    let isOver = false
    const ofSecond = follow(items, second).finally(() => (isOver = true))
    await until(() => items.some(({ kind }) => kind === 'caughtUp'))
    await append('t')
    await until(() => isOver || items.filter(({ kind }) => kind === 'event').length === 2)
    assert.equal(isOver, false)
    second.abort()
    await ofSecond
    await store.close()
  })
})

/** Of the queue of resolved promises. */
const afterTurns = async (turns: number): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
}

const storeOf = async (events: number): Promise<EventStore> => {
  const store = openInMemoryEventStore()
  for (let event = 0; event < events; event += 1)
    await store.append(`s-${event}`, 'none', [
      newEvent(crypto.randomUUID(), { type: TYPES[0], data: {} }, cause),
    ])
  return store
}

/** Counts the subscriptions that were opened and that are open, and what they deliver. */
const counting = (store: EventStore) => {
  const counted = { open: 0, opened: 0, delivered: 0 }
  const subscribe: EventStore['subscribeAll'] = async function* (options) {
    counted.open += 1
    counted.opened += 1
    try {
      for await (const item of store.subscribeAll(options)) {
        counted.delivered += 1
        yield item
      }
    } finally {
      counted.open -= 1
    }
  }
  return { subscribe, counted }
}

const positionOf = (item: Exclude<TailItem, { kind: 'caughtUp' }>): Position =>
  item.kind === 'event' ? item.event.position : item.position

const byPosition = (a: bigint, b: bigint) => Number(a - b)
