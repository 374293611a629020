import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import {
  EventTooLarge,
  InvalidAppend,
  MAX_APPEND_BYTES,
  StoreUnavailable,
} from '../../../src/kernel/ports/event-store-errors.js'
import type { EventMetadata } from '../../../src/kernel/ports/event-store.js'
import { arbitraryEvent, arbitraryEvents, arbitraryStream, givenStreamOf } from './arbitrary-events.js'
import { collect, idsIn, idsOf } from './collect.js'
import type { Opened } from './store-under-test.js'

const cycle = (): JsonObject => {
  const itself: Record<string, unknown> = { a: 1 }
  itself['itself'] = itself
  return itself as JsonObject
}

/** What the compiler forbids and a program may do anyway. */
const UNSERIALISABLE: readonly [string, unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['a list', [1]],
  ['a string', 'text'],
  ['a function', () => 1],
  ['a BigInt in it', { nested: { big: 1n } }],
  ['a cycle', cycle()],
  [
    'a toJSON that throws',
    {
      date: {
        toJSON: () => {
          throw new Error('no')
        },
      },
    },
  ],
]

export const refusing = (opened: Opened): void => {
  const refusesWith = async (
    failure: typeof InvalidAppend | typeof EventTooLarge,
    events: Parameters<ReturnType<Opened>['store']['append']>[2],
    stream = arbitraryStream(),
  ) => {
    const { store } = opened()
    const neighbour = arbitraryStream()
    const [, refused] = await Promise.allSettled([
      store.append(neighbour, 'none', [arbitraryEvent()]),
      store.append(stream, 'none', events),
      store.append(neighbour, 0n, [arbitraryEvent()]),
    ])
    assert.ok(refused.status === 'rejected')
    assert.ok(refused.reason instanceof failure, String(refused.reason))
    assert.deepEqual(await collect(store.readStream(stream)), [])
    assert.equal((await collect(store.readStream(neighbour))).length, 2)
  }

  describe('an append is refused, and its neighbours are not, when it', () => {
    it('has no events', () => refusesWith(InvalidAppend, []))

    it('has the same id twice', () => {
      const event = arbitraryEvent()
      return refusesWith(InvalidAppend, [event, event])
    })

    for (const [what, value] of UNSERIALISABLE) {
      it(`has ${what} for data`, () =>
        refusesWith(InvalidAppend, [arbitraryEvent(), arbitraryEvent({ data: value as JsonObject })]))

      it(`has ${what} for metadata`, () =>
        refusesWith(InvalidAppend, [arbitraryEvent({ metadata: value as EventMetadata })]))
    }

    it('is for a stream whose name has a lone surrogate', () =>
      refusesWith(InvalidAppend, [arbitraryEvent()], `\ud800-${arbitraryStream()}`))

    it('has an event type with a lone surrogate', () =>
      refusesWith(InvalidAppend, [arbitraryEvent({ type: '\udfff' })]))

    it('is over the limit with one event', () =>
      refusesWith(EventTooLarge, [arbitraryEvent({ data: { text: 'x'.repeat(MAX_APPEND_BYTES) } })]))

    it('is over the limit in bytes but not in characters', () =>
      refusesWith(EventTooLarge, [arbitraryEvent({ data: { text: 'ü'.repeat(MAX_APPEND_BYTES / 2) } })]))

    it('is over the limit with all its events together', () =>
      refusesWith(
        EventTooLarge,
        arbitraryEvents(4).map((event) => ({ ...event, data: { text: 'x'.repeat(MAX_APPEND_BYTES / 4) } })),
      ))
  })

  it('an append of exactly the limit is taken', async () => {
    const { store } = opened()
    const stream = arbitraryStream()
    const event = arbitraryEvent({ data: { text: '' } })
    const overhead = JSON.stringify(event.data).length + JSON.stringify(event.metadata).length
    const full = { ...event, data: { text: 'x'.repeat(MAX_APPEND_BYTES - overhead) } }

    await store.append(stream, 'none', [full])

    assert.deepEqual(await idsIn(store.readStream(stream)), idsOf([full]))
  })

  it('a check for writability writes no event', async () => {
    const { store } = opened()
    const { stream } = await givenStreamOf(store, 1)
    const head = await store.head()

    await store.checkWritable()

    assert.equal(await store.head(), head)
    assert.equal((await store.append(stream, 0n, [arbitraryEvent()])).revision, 1n)
  })

  describe('a closed store', () => {
    it('refuses appends, checks, reads and its head', async () => {
      const { store } = opened()
      await store.close()

      await assert.rejects(store.append(arbitraryStream(), 'none', [arbitraryEvent()]), StoreUnavailable)
      await assert.rejects(store.checkWritable(), StoreUnavailable)
      await assert.rejects(collect(store.readAll()), StoreUnavailable)
      await assert.rejects(collect(store.readStream(arbitraryStream())), StoreUnavailable)
      await assert.rejects(store.head(), StoreUnavailable)
    })

    it('has settled the appends that were on their way', async () => {
      const { store } = opened()
      const appended = Promise.allSettled(
        Array.from({ length: 50 }, () => store.append(arbitraryStream(), 'none', [arbitraryEvent()])),
      )

      await store.close()

      assert.equal((await appended).length, 50)
    })

    it('ends its subscriptions without an error', async () => {
      const { store } = opened()
      const after = await store.head()

      for await (const { kind } of store.subscribeAll({ after })) if (kind === 'caughtUp') await store.close()

      assert.deepEqual(await collect(store.subscribeAll({ after })), [])
    })

    it('can be closed again', async () => {
      const { store } = opened()

      await Promise.all([store.close(), store.close()])
      await store.close()
    })
  })
}
