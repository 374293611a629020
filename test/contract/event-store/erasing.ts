import assert from 'node:assert/strict'
import { isErased } from '../../../src/kernel/event-seal.js'
import type { Erasure, RecordedEvent } from '../../../src/kernel/ports/event-store.js'
import { skip } from '../../support/skipping.js'
import { arbitraryEvent, givenStreamOf } from './arbitrary-events.js'
import { collect } from './collect.js'
import type { Opened } from './store-under-test.js'

export const erasing = (opened: Opened): void => {
  describe('erasing', () => {
    beforeEach(function () {
      if (opened().store.erase === undefined) skip(this, 'this store cannot change events')
    })

    const erase = (erasures: readonly Erasure[]) => opened().store.erase!(each(erasures))
    const left = { erased: true }

    it('replaces the data of events, and nothing else of them, also after a restart', async () => {
      const { store, restart } = opened()
      const { stream } = await givenStreamOf(store, 5)
      const before = await collect(store.readStream(stream))
      const erased = [before[1]!, before[3]!]
      const bytes = erased.map(({ data }) => JSON.stringify(data).length - JSON.stringify(left).length)
      const result = await erase(erased.map(({ position }) => ({ position, data: left })))

      assert.deepEqual(result, { events: 2, bytes: bytes[0]! + bytes[1]! })
      const expected = before.map((event) => (erased.includes(event) ? { ...event, data: left } : event))
      const read = async (from: typeof store) => (await collect(from.readStream(stream))).map(withoutSize)
      assert.deepEqual(await read(store), expected.map(withoutSize))
      const found = (await collect(store.readAll())).filter((event) => event.stream === stream)
      assert.deepEqual(found.map(withoutSize), expected.map(withoutSize))
      if (restart !== undefined) assert.deepEqual(await read(await restart()), expected.map(withoutSize))
    })

    it('changes nothing when it is repeated', async () => {
      const { store } = opened()
      const { stream } = await givenStreamOf(store, 2)
      const erasures = (await collect(store.readStream(stream))).map(({ position }) => ({
        position,
        data: left,
      }))
      assert.equal((await erase(erasures)).events, 2)
      const before = await collect(store.readAll({ withSeals: true }))

      assert.deepEqual(await erase(erasures), { events: 0, bytes: 0 })
      assert.deepEqual(await collect(store.readAll({ withSeals: true })), before)
    })

    it('keeps the digests and destroys the salts', async () => {
      const { store } = opened()
      if (store.readPlaces === undefined) return
      const { stream } = await givenStreamOf(store, 3)
      const before = await store.readPlaces(0n, 1000)
      const [, { position }] = (await collect(store.readStream(stream))) as [RecordedEvent, RecordedEvent]
      await erase([{ position, data: left }])

      assert.deepEqual(await store.readPlaces(0n, 1000), before)
      const read = await collect(store.readStream(stream, { withSeals: true }))
      assert.deepEqual(
        read.map(({ seal }) => isErased(seal!)),
        [false, true, false],
      )
    })

    it('leaves a stream that can be appended to, and recognises the repeat of an append', async () => {
      const { store } = opened()
      const { stream, events } = await givenStreamOf(store, 1)
      const [{ position }] = (await collect(store.readStream(stream))) as [RecordedEvent]
      await erase([{ position, data: left }])

      assert.equal((await store.append(stream, 'none', events)).revision, 0n)
      assert.equal((await store.append(stream, 0n, [arbitraryEvent()])).revision, 1n)
    })

    it('erases events while others are appended', async () => {
      const { store } = opened()
      const { stream } = await givenStreamOf(store, 40)
      const before = await collect(store.readStream(stream))
      const erased = erase(before.map(({ position }) => ({ position, data: left })))
      const other = await givenStreamOf(store, 40)
      assert.equal((await erased).events, 40)

      const texts = (await collect(store.readStream(stream))).map(({ data }) => data)
      assert.deepEqual(new Set(texts.map((data) => JSON.stringify(data))), new Set([JSON.stringify(left)]))
      assert.deepEqual(
        (await collect(store.readStream(other.stream))).map(({ data }) => data),
        other.events.map(({ data }) => data),
      )
    })
  })
}

const withoutSize = ({ size: _, ...event }: RecordedEvent) => event

/** As an async iterable. */
export async function* each<A>(items: readonly A[]): AsyncGenerator<A> {
  yield* items
}
