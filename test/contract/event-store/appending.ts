import assert from 'node:assert/strict'
import type { Expected } from '../../../src/kernel/ports/event-store.js'
import { ConcurrencyConflict } from '../../../src/kernel/ports/event-store-errors.js'
import { arbitraryEvent, arbitraryEvents, arbitraryStream, givenStreamOf } from './arbitrary-events.js'
import { collect, idsIn } from './collect.js'
import type { Opened } from './store-under-test.js'
import { afterEvents } from '../../support/append-next.js'

export const appending = (opened: Opened): void => {
  describe('appending', () => {
    it('numbers the events of a stream from 0, without gaps', async () => {
      const { store } = opened()
      const stream = arbitraryStream()

      const first = await store.append(stream, 'none', arbitraryEvents(2))
      const second = await store.append(stream, first.revision, arbitraryEvents(3))

      const revisions = (await collect(store.readStream(stream))).map(({ revision }) => revision)
      assert.deepEqual([first.revision, second.revision], [1n, 4n])
      assert.deepEqual(revisions, [0n, 1n, 2n, 3n, 4n])
    })

    it('answers the position at which readAll finds the last event', async () => {
      const { store } = opened()
      const before = await store.head()

      const { position } = await store.append(arbitraryStream(), 'none', arbitraryEvents(3))

      const events = await collect(store.readAll({ after: before }))
      assert.equal(position, events.at(-1)?.position)
    })

    const conflicts: readonly [string, number, Expected, bigint | 'none'][] = [
      ['none, and the stream is there', 3, 'none', 2n],
      ['a revision that is passed', 3, 1n, 2n],
      ['a revision that is not reached', 3, 3n, 2n],
      ['a revision beyond every number of the store', 3, 2n ** 70n, 2n],
      ['a revision, and there is no stream', 0, 0n, 'none'],
    ]
    for (const [situation, length, expected, actual] of conflicts) {
      it(`refuses a writer that expects ${situation}, with the true revision`, async () => {
        const { store } = opened()
        const { stream, ids } = await givenStreamOf(store, length)

        const appended = store.append(stream, expected, [arbitraryEvent()])

        await assert.rejects(appended, (error) => {
          assert.ok(error instanceof ConcurrencyConflict)
          const { stream: on, expected: said, actual: found } = error
          assert.deepEqual({ on, said, found }, { on: stream, said: expected, found: actual })
          return true
        })
        assert.deepEqual(await idsIn(store.readStream(stream)), ids)
      })
    }

    it('lets one of 20 racing writers win and tells the others its revision', async () => {
      const { store } = opened()
      const { stream } = await givenStreamOf(store, 1)

      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, () => store.append(stream, 0n, [arbitraryEvent()])),
      )

      const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
      assert.equal(refused.length, 19)
      for (const error of refused) {
        assert.ok(error instanceof ConcurrencyConflict)
        assert.equal(error.actual, 1n)
      }
      assert.equal((await collect(store.readStream(stream))).length, 2)
    })

    it('keeps the order in which appends to one stream were issued', async () => {
      const { store } = opened()
      const stream = arbitraryStream()
      const events = arbitraryEvents(30)

      await Promise.all(events.map((event, index) => store.append(stream, afterEvents(index), [event])))

      assert.deepEqual(
        await idsIn(store.readStream(stream)),
        events.map(({ id }) => id),
      )
    })

    it('moves the head to the last event', async () => {
      const { store } = opened()
      const before = await store.head()

      const { position } = await store.append(arbitraryStream(), 'none', arbitraryEvents(2))

      assert.equal(await store.head(), position)
      assert.ok((position ?? 0n) > before)
    })
  })
}
