import assert from 'node:assert/strict'
import type { Expected } from '../../../../../src/kernel/ports/event-store.js'
import { ConcurrencyConflict, InvalidAppend } from '../../../../../src/kernel/ports/event-store-errors.js'
import {
  arbitraryEvent,
  arbitraryEvents,
  arbitraryStream,
  givenStreamOf,
} from '../../../../contract/event-store/arbitrary-events.js'
import { collect, idsIn, idsOf } from '../../../../contract/event-store/collect.js'
import { startProtocolDouble } from '../../../../support/eventstoredb-protocol-double/double.js'
import { givenDouble } from '../../../../support/eventstoredb-protocol-double/given-double.js'
import { appendNext } from '../../../../support/append-next.js'

describe('appending to an EventStoreDB', () => {
  const given = givenDouble()

  const streamFor = async (expected: Expected) => {
    const { store } = given
    return expected === 'none'
      ? { stream: arbitraryStream(), ids: [] as readonly string[] }
      : givenStreamOf(store, 2)
  }

  it('tries again by itself when an answer is lost, and stores the events once', async () => {
    const { double, store } = given
    const expectations = ['none', 1n] as const
    const streams = await Promise.all(expectations.map(streamFor))
    double.misbehaviour.swallowAnswers = 2
    double.misbehaviour.ignoreAppends = 2

    await Promise.all(
      streams.map(async ({ stream, ids }, index) => {
        const events = arbitraryEvents(2)
        const expected = expectations[index]!
        const { revision, position } = await store.append(stream, expected, events)

        const stored = await collect(store.readStream(stream))
        assert.deepEqual(idsOf(stored), [...ids, ...idsOf(events)])
        assert.deepEqual([revision, position], [stored.at(-1)?.revision, stored.at(-1)?.position])
      }),
    )
  })

  it('sends several appends in a turn of the event loop', async () => {
    const { store } = given
    const APPENDS = 256

    let turns = 0
    let next: NodeJS.Immediate
    const count = () => {
      turns += 1
      next = setImmediate(count)
    }
    count()

    await Promise.all(
      Array.from({ length: APPENDS }, () => store.append(arbitraryStream(), 'none', [arbitraryEvent()])),
    )

    clearImmediate(next!)
    assert.ok(turns < APPENDS / 2, `${turns} turns`)
  })

  for (const expected of ['none', 1n] as const)
    it(`recognises what ${expected} stored when its answer was lost, also after a restart of the server`, async () => {
      const { double, store } = given
      const { stream, ids } = await streamFor(expected)
      const events = arbitraryEvents(2)
      const impatient = await given.storeWith(1900)
      double.misbehaviour.swallowAnswers = 1
      await assert.rejects(impatient.append(stream, expected, events), { name: 'AppendOutcomeUnknown' })
      const [later] = [arbitraryEvent()]
      await appendNext(store, stream, [later])
      double.log.forgetIds()

      const { revision } = await store.append(stream, expected, events)

      assert.equal(revision, BigInt(ids.length + 1))
      assert.deepEqual(await idsIn(store.readStream(stream)), [...ids, ...idsOf(events), later.id])
    })

  it('takes a conflict for a success where its own events are in the way', async () => {
    const { double, store } = given
    for (const expected of ['none', 1n] as const) {
      const { stream, ids } = await streamFor(expected)
      const events = arbitraryEvents(2)
      double.misbehaviour.conflictThoughStored = 1

      const { revision } = await store.append(stream, expected, events)

      assert.equal(revision, BigInt(ids.length + 1))
      assert.deepEqual(await idsIn(store.readStream(stream)), [...ids, ...idsOf(events)])
    }
  })

  it('passes on a conflict with the true revision, and does not try again', async () => {
    const { double, store } = given
    const { stream, ids } = await givenStreamOf(store, 3)
    double.misbehaviour.conflicts = 1

    await assert.rejects(store.append(stream, 2n, [arbitraryEvent()]), {
      name: 'ConcurrencyConflict',
      actual: 2n,
    })

    assert.deepEqual(await idsIn(store.readStream(stream)), ids)
  })

  it('tries again when the server answers that it ran out of time', async () => {
    const { double, store } = given
    const stream = arbitraryStream()
    const events = arbitraryEvents(2)
    double.misbehaviour.timeouts = 1

    const { revision } = await store.append(stream, 'none', events)

    assert.equal(revision, 1n)
    assert.deepEqual(await idsIn(store.readStream(stream)), idsOf(events))
  })

  it('outlives a server that is restarted while 200 appends are under way', async () => {
    const { double, store } = given
    const appends = Array.from({ length: 200 }, () => ({
      stream: arbitraryStream(),
      event: arbitraryEvent(),
    }))

    const appended = appends.map(({ stream, event }) => store.append(stream, 'none', [event]))
    await double.restart()
    await Promise.all(appended)

    for (const { stream, event } of appends)
      assert.deepEqual(await idsIn(store.readStream(stream)), [event.id])
  })

  it('continues with the leader that a node names', async () => {
    const { double, store } = given
    const leader = await startProtocolDouble()
    double.misbehaviour.leaderPort = Number(/:(\d+)/.exec(leader.url)![1])
    const streams = Array.from({ length: 20 }, arbitraryStream)

    await Promise.all(streams.map((stream) => store.append(stream, 'none', [arbitraryEvent()])))

    assert.equal(double.log.all.length, 0)
    for (const stream of streams) assert.equal((await collect(store.readStream(stream))).length, 1)
    assert.equal(leader.log.all.length, streams.length)
    await leader.stop()
  })

  it('takes late answers for what they are', async () => {
    const { double, store } = given
    const stream = arbitraryStream()
    const events = arbitraryEvents(2)
    const impatient = await given.storeWith(100)
    double.misbehaviour.answerLateMs = 300

    const settled = await Promise.allSettled([
      impatient.append(stream, 'none', events),
      store.append(stream, 'none', events),
    ])

    assert.equal(settled[0].status, 'rejected')
    assert.equal(settled[1].status, 'fulfilled')
    assert.deepEqual(await idsIn(store.readStream(stream)), idsOf(events))
  })

  it('refuses names that are the server\u2019s own, empty names, and ids that are no UUIDs', async () => {
    const { store } = given
    const event = arbitraryEvent()

    for (const [stream, wrong] of [
      ['$settings', event],
      ['', event],
      ['stream-1', { ...event, type: '$metadata' }],
      ['stream-1', { ...event, type: '' }],
      ['stream-1', { ...event, id: 'event-1' }],
      ['stream-1', { ...event, id: event.id.toUpperCase() }],
    ] as const)
      await assert.rejects(store.append(stream, 'none', [wrong]), InvalidAppend)
  })

  it('names a deleted stream when it takes no append, or continues after its last revision', async () => {
    const { double, store } = given
    const [gone, emptied] = [await givenStreamOf(store, 2), await givenStreamOf(store, 2)]
    double.log.delete('tombstone', gone.stream, 'any')
    double.log.delete('delete', emptied.stream, 'any')

    await assert.rejects(store.append(gone.stream, 1n, [arbitraryEvent()]), {
      name: 'StreamUnreadable',
      message: /was deleted/,
    })
    await assert.rejects(store.append(emptied.stream, 0n, [arbitraryEvent()]), ConcurrencyConflict)
    await assert.rejects(store.append(emptied.stream, 'none', [arbitraryEvent()]), {
      name: 'StreamUnreadable',
      message: /was deleted .* at revision 2/,
    })
  })
})
