import assert from 'node:assert/strict'
import { ConcurrencyConflict } from '../../../src/kernel/ports/event-store-errors.js'
import { arbitraryEvent, arbitraryEvents, arbitraryStream, givenStreamOf } from './arbitrary-events.js'
import { idsIn, idsOf } from './collect.js'
import { skip } from '../../support/skipping.js'
import type { Opened } from './store-under-test.js'

export const repeating = (opened: Opened): void => {
  describe('repeating an append', () => {
    for (const expected of ['none', 0n] as const) {
      const given = async () => {
        const { store } = opened()
        const { stream, ids } = await givenStreamOf(store, expected === 'none' ? 0 : 1)
        const events = arbitraryEvents(2)
        const first = await store.append(stream, expected, events)
        return { store, stream, events, first, ids: [...ids, ...idsOf(events)] }
      }

      it(`writes nothing when ${expected} is expected, and answers the same revision`, async () => {
        const { store, stream, events, first, ids } = await given()

        const second = await store.append(stream, expected, events)

        assert.equal(second.revision, first.revision)
        assert.deepEqual(await idsIn(store.readStream(stream)), ids)
      })

      it(`writes nothing after later appends either when ${expected} is expected`, async () => {
        const { store, stream, events, first, ids } = await given()
        const later = arbitraryEvent()
        await store.append(stream, first.revision, [later])

        const second = await store.append(stream, expected, events)

        assert.equal(second.revision, first.revision)
        assert.deepEqual(await idsIn(store.readStream(stream)), [...ids, later.id])
      })
    }

    it('writes nothing when both were issued at once', async () => {
      const { store } = opened()
      const stream = arbitraryStream()
      const events = arbitraryEvents(2)

      const [first, second] = await Promise.all([
        store.append(stream, 'none', events),
        store.append(stream, 'none', events),
      ])

      assert.equal(first.revision, second.revision)
      assert.deepEqual(await idsIn(store.readStream(stream)), idsOf(events))
    })

    it('does not move the head', async () => {
      const { store } = opened()
      const stream = arbitraryStream()
      const events = arbitraryEvents(2)
      await store.append(stream, 'none', events)
      const before = await store.head()

      const { position } = await store.append(stream, 'none', events)

      assert.equal(await store.head(), before)
      assert.ok(position === undefined || position === before)
    })

    it('is a conflict when only a part matches', async () => {
      const { store } = opened()
      const { stream, events, ids } = await givenStreamOf(store, 2)

      const appended = store.append(stream, 'none', [...events, arbitraryEvent()])

      await assert.rejects(appended, ConcurrencyConflict)
      assert.deepEqual(await idsIn(store.readStream(stream)), ids)
    })

    it('is a conflict when the ids are the same in another order', async () => {
      const { store } = opened()
      const { stream, events } = await givenStreamOf(store, 2)

      const appended = store.append(stream, 'none', [...events].reverse())

      await assert.rejects(appended, ConcurrencyConflict)
    })

    it('in another stream is a new event', async () => {
      const { store } = opened()
      const { events } = await givenStreamOf(store, 1)
      const another = arbitraryStream()

      await store.append(another, 'none', events)

      assert.deepEqual(await idsIn(store.readStream(another)), idsOf(events))
    })

    it('stores the events once when the answer to the first was lost', async function () {
      const { store, impatient = store, loseNextAnswer } = opened()
      if (loseNextAnswer === undefined) return skip(this, 'its answers cannot be lost')
      const stream = arbitraryStream()
      const events = arbitraryEvents(2)
      loseNextAnswer()

      await assert.rejects(impatient.append(stream, 'none', events), { name: 'AppendOutcomeUnknown' })
      const { revision } = await store.append(stream, 'none', events)

      assert.equal(revision, 1n)
      assert.deepEqual(await idsIn(store.readStream(stream)), idsOf(events))
    })
  })
}
