import assert from 'node:assert/strict'
import { ConcurrencyConflict } from '../../../src/kernel/ports/event-store-errors.js'
import { arbitraryEvent, arbitraryEvents, givenStreamOf } from './arbitrary-events.js'
import { collect, idsIn } from './collect.js'
import { skip } from '../../support/skipping.js'
import type { Opened } from './store-under-test.js'

export const restarting = (opened: Opened): void => {
  describe('after a restart', () => {
    it('every event is there as it was', async function () {
      const { store, restart } = opened()
      if (restart === undefined) return skip(this, 'it does not outlive its process')
      const after = await store.head()
      await Promise.all([givenStreamOf(store, 3), givenStreamOf(store, 2)])
      const before = await collect(store.readAll({ after }))
      const head = await store.head()

      const again = await restart()

      assert.deepEqual(await collect(again.readAll({ after })), before)
      assert.equal(await again.head(), head)
    })

    it('streams and positions go on where they were', async function () {
      const { store, restart } = opened()
      if (restart === undefined) return skip(this, 'it does not outlive its process')
      const { stream } = await givenStreamOf(store, 2)
      const head = await store.head()

      const again = await restart()
      await assert.rejects(again.append(stream, 'none', [arbitraryEvent()]), ConcurrencyConflict)
      const { revision, position } = await again.append(stream, 1n, [arbitraryEvent()])

      assert.equal(revision, 2n)
      assert.ok(position !== undefined && position > head)
    })

    for (const expected of ['none', 1n] as const) {
      it(`the repeat of an append that expected ${expected} writes nothing`, async function () {
        const { store, restart } = opened()
        if (restart === undefined) return skip(this, 'it does not outlive its process')
        const { stream } = await givenStreamOf(store, expected === 'none' ? 0 : 2)
        const events = arbitraryEvents(2)
        const first = await store.append(stream, expected, events)
        await store.append(stream, first.revision, [arbitraryEvent()])
        const stored = await idsIn(store.readStream(stream))

        const again = await restart()
        const second = await again.append(stream, expected, events)

        assert.equal(second.revision, first.revision)
        assert.deepEqual(await idsIn(again.readStream(stream)), stored)
      })
    }

    it('a subscription, taken up after its last event if it ended, has lost and repeated nothing', async function () {
      const { store, restart } = opened()
      if (restart === undefined) return skip(this, 'it does not outlive its process')
      let current = store
      let after = await store.head()
      const start = after
      await givenStreamOf(store, 20)
      const seen: string[] = []

      while (seen.length < 40)
        for await (const item of current.subscribeAll({ after })) {
          if (item.kind !== 'event') continue
          seen.push(item.event.id)
          after = item.event.position
          if (seen.length === 10) {
            current = await restart()
            await givenStreamOf(current, 20)
          }
          if (seen.length === 40) break
        }

      assert.deepEqual(seen, await idsIn(current.readAll({ after: start })))
    })
  })
}
