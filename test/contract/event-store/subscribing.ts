import assert from 'node:assert/strict'
import type { EventStore, RecordedEvent, TailItem } from '../../../src/kernel/ports/event-store.js'
import {
  appendInParts,
  arbitraryEvent,
  arbitraryEvents,
  arbitraryStream,
  givenStreamOf,
} from './arbitrary-events.js'
import { collect, collectUntil, eventsIn, follow, idsIn, idsOf } from './collect.js'
import type { Opened } from './store-under-test.js'
import { appendNext } from '../../support/append-next.js'

const isCaughtUp = ({ kind }: TailItem) => kind === 'caughtUp'

/** Ten writers with streams of their own. */
const appendConcurrently = (store: EventStore, eventsEach: number) =>
  Promise.all(Array.from({ length: 10 }, () => givenStreamOf(store, eventsEach)))

export const subscribing = (opened: Opened): void => {
  describe('a subscription', () => {
    it('gives what is there, says that it caught up, and goes on with what comes', async () => {
      const { store } = opened()
      const after = await store.head()
      const past = await givenStreamOf(store, 2)
      const kinds: string[] = []
      const seen: string[] = []

      for await (const item of store.subscribeAll({ after })) {
        if (item.kind === 'checkpoint') continue
        kinds.push(item.kind)
        if (item.kind === 'event') seen.push(item.event.id)
        if (item.kind === 'caughtUp')
          void store.append(past.stream, 1n, [arbitraryEvent({ id: past.stream.slice(-36) })])
        if (kinds.length === 4) break
      }

      assert.deepEqual(kinds, ['event', 'event', 'caughtUp', 'event'])
      assert.deepEqual(seen, [...past.ids, past.stream.slice(-36)])
    })

    it('says that it caught up with a log that has nothing new', async () => {
      const { store } = opened()
      await givenStreamOf(store, 1)

      const items = await collectUntil(store.subscribeAll({ after: await store.head() }), isCaughtUp)

      assert.deepEqual(eventsIn(items), [])
    })

    it('says exactly once that it caught up when the run is quiet', async () => {
      const { store } = opened()
      const after = await store.head()
      const { stream } = await givenStreamOf(store, 3)
      const items: TailItem[] = []

      for await (const item of store.subscribeAll({ after })) {
        items.push(item)
        if (eventsIn(items).length === 6) break
        if (items.some(isCaughtUp) && item.kind !== 'checkpoint')
          await appendNext(store, stream, [arbitraryEvent()])
      }

      assert.equal(items.filter(isCaughtUp).length, 1)
    })

    it('has no gap, no duplicate and the order of readAll while others write', async () => {
      const { store } = opened()
      const after = await store.head()
      const early = appendConcurrently(store, 20)
      const following = follow(store, 400, { after })
      await early
      await appendConcurrently(store, 20)

      const followed = await following

      assert.deepEqual(idsOf(followed), await idsIn(store.readAll({ after })))
      assert.equal(new Set(idsOf(followed)).size, 400)
    })

    it('gives the same events as readAll gives', async () => {
      const { store } = opened()
      const after = await store.head()
      await givenStreamOf(store, 3)

      const followed = await follow(store, 3, { after })

      assert.deepEqual(followed, await collect(store.readAll({ after })))
    })

    it('can be taken up again after any event', async () => {
      const { store } = opened()
      let after = await store.head()
      const { ids } = await givenStreamOf(store, 5)
      const seen: string[] = []

      while (seen.length < 5) {
        const [next] = await follow(store, 1, { after })
        assert.ok(next)
        seen.push(next.id)
        after = next.position
      }

      assert.deepEqual(seen, ids)
    })

    it('gives every event to each of several subscribers', async () => {
      const { store } = opened()
      const after = await store.head()
      const following = Promise.all([1, 2, 3].map(() => follow(store, 20, { after })))

      await appendConcurrently(store, 2)

      const expected = await idsIn(store.readAll({ after }))
      for (const followed of await following) assert.deepEqual(idsOf(followed), expected)
    })

    it('gives a slow consumer everything, in order', async () => {
      const { store } = opened()
      const after = await store.head()
      await givenStreamOf(store, 1)
      const seen: string[] = []

      for await (const item of store.subscribeAll({ after })) {
        if (item.kind !== 'event') continue
        if (seen.length === 0) await appendInParts(store, arbitraryStream(), arbitraryEvents(1_200))
        seen.push(item.event.id)
        if (seen.length === 1_201) break
      }

      assert.deepEqual(seen, await idsIn(store.readAll({ after })))
    })
  })

  describe('a subscription to some types of events', () => {
    const types = new Set(['CallEnded', 'CallDeleted'])
    const many = (type: string) => arbitraryEvents(100).map((event) => ({ ...event, type }))
    const positionOf = (item: TailItem) =>
      item.kind === 'caughtUp' ? 0n : item.kind === 'event' ? item.event.position : item.position

    it('delivers only these, in order, before and after it caught up', async () => {
      const { store } = opened()
      const after = await store.head()
      const { stream } = await givenStreamOf(store, 1)
      const kinds = ['CallEnded', 'CallEndedEarly', 'CallDeleted', 'CallStarted', 'CallEnded']
      const append = () =>
        appendNext(
          store,
          stream,
          kinds.map((type) => arbitraryEvent({ type })),
        )
      await append()
      const seen: RecordedEvent[] = []

      for await (const item of store.subscribeAll({ after, types })) {
        if (item.kind === 'event') seen.push(item.event)
        if (item.kind === 'caughtUp') assert.equal(seen.length, 3)
        if (item.kind === 'caughtUp') await append()
        if (seen.length === 6) break
      }

      const all = await collect(store.readAll({ after }))
      assert.deepEqual(
        seen,
        all.filter(({ type }) => types.has(type)),
      )
    })

    for (const last of ['CallEnded', 'CallStarted'])
      it(`reports the end of the log when it caught up with a ${last} at the end`, async () => {
        const { store } = opened()
        const after = await store.head()
        await appendInParts(store, arbitraryStream(), [
          ...many('CallStarted'),
          arbitraryEvent({ type: last }),
        ])

        const items = await collectUntil(store.subscribeAll({ after, types }), isCaughtUp)

        assert.equal(items.map(positionOf).at(-2), await store.head())
      })

    it('reports the end of a log that has no event of these types', async () => {
      const { store } = opened()
      const after = await store.head()
      await givenStreamOf(store, 3)

      const items = await collectUntil(store.subscribeAll({ after, types }), isCaughtUp)

      assert.deepEqual(eventsIn(items), [])
      assert.equal(items.map(positionOf).at(-2), await store.head())
    })

    it('advances past other events that come', async () => {
      const { store } = opened()
      const after = await store.head()
      let start: bigint | undefined

      for await (const item of store.subscribeAll({ after, types })) {
        assert.notEqual(item.kind, 'event')
        if (start !== undefined && positionOf(item) > start) break
        if (item.kind !== 'caughtUp') continue
        const { position } = await store.append(arbitraryStream(), 'none', [arbitraryEvent()])
        await appendInParts(store, arbitraryStream(), many('CallStarted'))
        start = position
      }
    })
  })

  describe('aborting a subscription', () => {
    it('ends one that waits, without an error', async () => {
      const { store } = opened()
      const aborting = new AbortController()
      const { signal } = aborting

      for await (const { kind } of store.subscribeAll({ after: await store.head(), signal }))
        if (kind === 'caughtUp') setImmediate(() => aborting.abort())

      assert.ok(signal.aborted)
    })

    it('gives no event after it', async () => {
      const { store } = opened()
      const after = await store.head()
      await givenStreamOf(store, 5)
      const aborting = new AbortController()
      let events = 0

      for await (const { kind } of store.subscribeAll({ after, signal: aborting.signal })) {
        if (kind === 'event') events += 1
        aborting.abort()
      }

      assert.ok(events <= 1)
    })

    it('before it begins gives nothing', async () => {
      const { store } = opened()
      await givenStreamOf(store, 1)

      assert.deepEqual(await collect(store.subscribeAll({ signal: AbortSignal.abort() })), [])
    })

    it('leaves other subscribers and writers alone', async () => {
      const { store } = opened()
      const after = await store.head()
      const following = follow(store, 1, { after })
      await collectUntil(store.subscribeAll({ after }), isCaughtUp)
      const aborting = new AbortController()
      const aborted = collect(store.subscribeAll({ after, signal: aborting.signal }))

      aborting.abort()
      await aborted
      await store.append(arbitraryStream(), 'none', [arbitraryEvent()])

      assert.equal((await following).length, 1)
    })
  })
}
