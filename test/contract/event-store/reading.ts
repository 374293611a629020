import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  appendEach,
  appendInParts,
  arbitraryEvent,
  arbitraryEvents,
  arbitraryStream,
  givenStreamOf,
} from './arbitrary-events.js'
import { collect, collectUntil, idsIn, idsOf } from './collect.js'
import type { Opened } from './store-under-test.js'

// More than any adapter reads at once.
const MANY = 1_200

export const reading = (opened: Opened): void => {
  describe('reading a stream', () => {
    it('finds a missing stream empty', async () => {
      const { store } = opened()

      assert.deepEqual(await collect(store.readStream(arbitraryStream())), [])
      assert.deepEqual(await collect(store.readStream(arbitraryStream(), { backwards: true })), [])
    })

    it('finds only its own events', async () => {
      const { store } = opened()
      const { stream, ids } = await givenStreamOf(store, 2)
      await givenStreamOf(store, 2)

      assert.deepEqual(await idsIn(store.readStream(stream)), ids)
    })

    it('knows an event by its id alone, where the store can', async () => {
      const { store } = opened()
      const { stream, ids } = await givenStreamOf(store, 3)
      await givenStreamOf(store, 2)
      const found = await store.findEvent?.(ids[1]!)
      if (store.findEvent === undefined) return
      assert.deepEqual(found, (await collect(store.readStream(stream)))[1])
      assert.equal(await store.findEvent(randomUUID()), undefined)
    })

    const ranges = [
      [{ from: 0n }, [0, 1, 2, 3]],
      [{ from: 2n }, [2, 3]],
      [{ from: 4n }, []],
      [{ limit: 2 }, [0, 1]],
      [{ limit: 0 }, []],
      [{ from: 1n, limit: 2 }, [1, 2]],
      [{ backwards: true }, [3, 2, 1, 0]],
      [{ backwards: true, limit: 1 }, [3]],
      [{ backwards: true, from: 2n }, [2, 1, 0]],
      [{ backwards: true, from: 2n, limit: 2 }, [2, 1]],
      [{ backwards: true, from: 0n }, [0]],
      [{ backwards: true, from: 99n, limit: 1 }, [3]],
    ] as const
    for (const [range, revisions] of ranges) {
      const described = Object.entries(range).map(([option, value]) => `${option} ${value}`)
      it(`with ${described.join(', ')} gives [${revisions.join(', ')}] of four events`, async () => {
        const { store } = opened()
        const { stream } = await givenStreamOf(store, 4)

        const events = await collect(store.readStream(stream, range))

        assert.deepEqual(
          events.map(({ revision }) => Number(revision)),
          revisions,
        )
      })
    }

    it('gives all of a long one, in both directions', async () => {
      const { store } = opened()
      const stream = arbitraryStream()
      const events = arbitraryEvents(MANY)
      await appendInParts(store, stream, events)

      const forwards = await idsIn(store.readStream(stream))
      const backwards = await idsIn(store.readStream(stream, { backwards: true }))

      assert.deepEqual(forwards, idsOf(events))
      assert.deepEqual(backwards, forwards.toReversed())
    })
  })

  describe('reading the log backwards', () => {
    it('gives the events of some types, newest first', async () => {
      const { store } = opened()
      const head = await store.head()
      const types = ['AliasAdded', 'CallStarted', 'TagAdded', 'RunStarted', 'CallEnded']
      const events = Array.from({ length: MANY }, (_, n) =>
        arbitraryEvent({ type: types[n % types.length]! }),
      )
      await appendInParts(store, arbitraryStream(), events)

      for (const wanted of [
        ['AliasAdded', 'TagAdded'],
        ['RunStarted'],
        ['CallEnded', 'AliasAdded'],
        ['Nothing'],
      ]) {
        const found: string[] = []
        for await (const event of store.readBackwards(new Set(wanted))) {
          if (event.position <= head) break
          found.push(event.id)
        }
        assert.deepEqual(
          found,
          idsOf(events.filter(({ type }) => wanted.includes(type))).toReversed(),
          wanted.join(),
        )
      }
    })

    it('gives the events before a position, of all types or of some', async () => {
      const { store } = opened()
      const after = await store.head()
      const types = ['AliasAdded', 'CallStarted', 'TagAdded']
      const events = Array.from({ length: MANY }, (_, n) =>
        arbitraryEvent({ type: types[n % types.length]! }),
      )
      await appendInParts(store, arbitraryStream(), events)
      const recorded = await collect(store.readAll({ after, withSeals: true }))
      const wholes = recorded.toReversed()

      for (const wanted of [undefined, ['TagAdded', 'AliasAdded'], ['CallStarted']])
        for (const at of [0, 1, 600, MANY - 1]) {
          const before = recorded[at]!.position
          const found = []
          const types = wanted && new Set(wanted)
          for await (const event of store.readBackwards(types, { before, withSeals: true })) {
            if (event.position <= after) break
            found.push(event)
          }
          const expected = wholes.filter(
            ({ position, type }) => position < before && types?.has(type) !== false,
          )
          assert.deepEqual(found, expected, `${String(wanted)} before ${at}`)
        }
      assert.deepEqual(await collect(store.readBackwards(undefined, { before: 0n })), [])
    })
  })

  describe('reading the log', () => {
    it('gives the events of all streams in the order in which they were appended', async () => {
      const { store } = opened()
      const after = await store.head()
      const a = await givenStreamOf(store, 2)
      const b = await givenStreamOf(store, 2)
      const more = arbitraryEvents(1)
      await store.append(a.stream, 1n, more)

      const read = await idsIn(store.readAll({ after }))

      assert.deepEqual(read, [...a.ids, ...b.ids, ...idsOf(more)])
    })

    it('gives strictly increasing positions', async () => {
      const { store } = opened()
      await Promise.all(Array.from({ length: 50 }, () => givenStreamOf(store, 2)))

      const positions = (await collect(store.readAll())).map(({ position }) => position)

      assert.ok(positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? 0n)))
    })

    it('leaves out the event it is asked to read after', async () => {
      const { store } = opened()
      const { ids } = await givenStreamOf(store, 3)
      const [second] = (await collect(store.readAll())).filter(({ id }) => id === ids[1])

      const read = await idsIn(store.readAll({ after: second?.position ?? 0n }))

      assert.deepEqual(read, [ids[2]])
    })

    it('can be taken up again anywhere', async () => {
      const { store } = opened()
      const start = await store.head()
      const events = arbitraryEvents(MANY)
      await appendEach(events, (event) => store.append(arbitraryStream(), 'none', [event]))

      const read: string[] = []
      for (let after = start; ;) {
        const part = await collect(store.readAll({ after, limit: 111 }))
        assert.ok(part.length <= 111)
        const last = part.at(-1)
        if (last === undefined) break
        read.push(...idsOf(part))
        after = last.position
      }

      assert.deepEqual(read, await idsIn(store.readAll({ after: start })))
      assert.deepEqual([...read].sort(), [...idsOf(events)].sort())
    })

    it('can be left early', async () => {
      const { store } = opened()
      const after = await store.head()
      const { ids } = await givenStreamOf(store, 3)

      const read = await collectUntil(store.readAll({ after }), () => true)

      assert.deepEqual(idsOf(read), [ids[0]])
    })

    it('after the head gives nothing', async () => {
      const { store } = opened()
      await givenStreamOf(store, 1)

      assert.deepEqual(await collect(store.readAll({ after: await store.head() })), [])
    })
  })
}
