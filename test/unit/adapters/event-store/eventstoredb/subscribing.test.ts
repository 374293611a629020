import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { openEventStoreDb } from '../../../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import { StreamUnreadable } from '../../../../../src/kernel/ports/event-store-errors.js'
import type { RecordedEvent, TailItem } from '../../../../../src/kernel/ports/event-store.js'
import { jsonText } from '../../../../../src/kernel/json/text.js'
import type { ProposedEvent } from '../../../../support/eventstoredb-protocol-double/log.js'
import {
  arbitraryEvent,
  arbitraryEvents,
  arbitraryStream,
  givenStreamOf,
} from '../../../../contract/event-store/arbitrary-events.js'
import { collect, collectUntil, eventsIn, idsIn, idsOf } from '../../../../contract/event-store/collect.js'
import { givenDouble } from '../../../../support/eventstoredb-protocol-double/given-double.js'
import { afterEvents, appendNext } from '../../../../support/append-next.js'
import { until } from '../../../../support/until.js'

const text = (value: string) => new Uint8Array(Buffer.from(value))

const foreign = (overrides: Partial<ProposedEvent> = {}): ProposedEvent => ({
  id: randomUUID(),
  type: 'OrderPlaced',
  contentType: 'application/json',
  data: text('{"order":1}'),
  metadata: text('{"$correlationId":"1"}'),
  ...overrides,
})

const FOREIGN = [
  foreign(),
  foreign({ metadata: new Uint8Array() }),
  foreign({ metadata: text('not JSON') }),
  foreign({ data: text('[1]') }),
  foreign({ data: text('not JSON') }),
  foreign({ contentType: 'application/octet-stream', data: new Uint8Array([0, 255, 1]) }),
  foreign({ type: '$metadata' }),
  foreign({ type: '$>', data: text('0@stream-1') }),
]

describe('reading and following an EventStoreDB', () => {
  const given = givenDouble()

  const appendForeign = (stream: string) =>
    given.double.log.append({
      stream,
      expected: 'any',
      events: FOREIGN.map((event) => ({ ...event, id: randomUUID() })),
    })

  it('waits while the server searches a long log for an event of the types', async () => {
    const { store, double } = given
    const { stream } = await givenStreamOf(store, 1)
    const wanted = arbitraryEvent({ type: 'SecretStored' })
    await store.append(stream, 0n, [wanted])
    await store.append(stream, 1n, arbitraryEvents(65))
    // The search takes longer than a server that reads without a filter stays silent.
    double.misbehaviour.eventsPerSecond = 10

    const found = await collect(store.readBackwards(new Set(['SecretStored'])))
    double.misbehaviour.eventsPerSecond = Infinity
    assert.deepEqual(idsOf(found), [wanted.id])
  }).timeout(30_000)

  it('fails to read, and to follow, an event that a newer release wrote after this process started', async () => {
    const { store } = given
    const { stream } = await givenStreamOf(store, 1)
    const newer = arbitraryEvent()
    await store.append(stream, 0n, [{ ...newer, metadata: { ...newer.metadata, schemaVersion: 2 } }])
    const refused = { name: 'StoreUnavailable', message: /written by a newer release/ }

    await assert.rejects(collect(store.readStream(stream)), refused)
    await assert.rejects(collect(store.readAll()), refused)
    await assert.rejects(
      collectUntil(store.subscribeAll(), ({ kind }) => kind === 'caughtUp'),
      refused,
    )
  })

  for (const caughtUp of [0, 1, 2] as const)
    it(`emits caughtUp once when the server sends it ${caughtUp} times, also after it was dropped`, async () => {
      const { double, store } = given
      double.misbehaviour.caughtUp = caughtUp
      const { stream } = await givenStreamOf(store, 3)
      const items: TailItem[] = []

      for await (const item of store.subscribeAll()) {
        if (item.kind !== 'checkpoint') items.push(item)
        if (items.length === 5) double.dropSubscriptions()
        if (items.length === 7) break
        if (item.kind === 'caughtUp' || items.length > 4) await appendNext(store, stream, [arbitraryEvent()])
      }

      assert.deepEqual(
        items.map(({ kind }) => kind),
        ['event', 'event', 'event', 'caughtUp', 'event', 'event', 'event'],
      )
    })

  for (const caughtUp of [0, 1] as const)
    for (const others of [0, 31, 150])
      it(`reports ${others} unwanted events at the end of the log when the server sends caughtUp ${caughtUp} times`, async () => {
        const { double, store } = given
        double.misbehaviour.caughtUp = caughtUp
        const { stream, ids } = await givenStreamOf(store, 3)
        const other = arbitraryEvents(others).map((event) => ({ ...event, type: 'CallEnded' }))
        if (others > 0) await appendNext(store, stream, other)

        const items = await collectUntil(
          store.subscribeAll({ types: new Set(['CallStarted']) }),
          ({ kind }) => kind === 'caughtUp',
        )

        assert.deepEqual(idsOf(eventsIn(items)), ids)
        const position = items.map((item) => ('position' in item ? item.position : 0n)).at(-2)
        if (others > 0) assert.equal(position, await store.head())
      })

  it('loses and repeats nothing when the server drops it again and again, and restarts', async () => {
    const { double, store } = given
    const streams = [arbitraryStream(), arbitraryStream()]
    const events = arbitraryEvents(120)
    const writing = (async () => {
      for (const [index, event] of events.entries()) {
        await store.append(streams[index % 2]!, afterEvents(index >> 1), [event])
        if (index % 40 === 20) double.dropSubscriptions()
        if (index === 60) await double.restart()
      }
    })()

    const items = await collectUntil(store.subscribeAll(), (_, so) => eventsIn(so).length === events.length)
    await writing

    assert.deepEqual(idsOf(eventsIn(items)), idsOf(events))
    assert.deepEqual(await idsIn(store.readAll()), idsOf(events))
  })

  it('passes over what others wrote, and the server itself, in every read of the whole log', async () => {
    const { double, store } = given
    appendForeign('orders-1')
    const { ids } = await givenStreamOf(store, 2)
    appendForeign('$stats-0')
    appendForeign('orders-2')

    const events = await collect(store.readAll())
    const items = await collectUntil(store.subscribeAll(), ({ kind }) => kind === 'caughtUp')

    assert.deepEqual(idsOf(events), ids)
    assert.deepEqual(idsOf(eventsIn(items)), ids)
    assert.equal(await store.head(), BigInt(double.log.all.at(-1)!.position))
    assert.deepEqual(items.at(-2), { kind: 'checkpoint', position: await store.head() })
  })

  it('reports the positions of events of others, so that the head is reached, after it caught up too', async () => {
    const { double, store } = given
    const positions: bigint[] = []
    const last = () => BigInt(double.log.all.at(-1)?.position ?? 0)

    for await (const item of store.subscribeAll()) {
      if (item.kind === 'caughtUp') appendForeign('orders-1')
      if (item.kind === 'checkpoint') positions.push(item.position)
      if (positions.at(-1) === last()) break
    }

    assert.equal(positions.at(-1), await store.head())
  })

  it('reads one event for the head, however many events of others are last', async () => {
    const { double, store } = given
    await givenStreamOf(store, 1)
    for (let n = 0; n < 1000; n += 1) appendForeign('orders-1')
    const written = double.written()

    const head = await store.head()

    assert.equal(head, BigInt(double.log.all.at(-1)!.position))
    assert.equal(double.written() - written, 1)
  })

  for (const types of [undefined, new Set(['CallStarted'])])
    it(`delivers the event after a position that was scavenged ${types ? 'to a subscription to types' : ''}`, async () => {
      const { double, store } = given
      await givenStreamOf(store, 2)
      const scavenged = await givenStreamOf(store, 2)
      const after = await store.head()
      const { ids } = await givenStreamOf(store, 2)
      double.log.scavenge(scavenged.stream)

      const items = await collectUntil(
        store.subscribeAll({ after, types }),
        ({ kind }) => kind === 'caughtUp',
      )

      assert.deepEqual(idsOf(eventsIn(items)), ids)
    })

  it('reports the position of the server\u2019s own events', async () => {
    const { double, store } = given
    for (let n = 0; n < 64; n += 1)
      double.log.append({
        stream: '$stats-0',
        expected: 'any',
        events: [foreign({ type: '$statsCollected' })],
      })

    const items = await collectUntil(
      store.subscribeAll(),
      (item) => item.kind === 'checkpoint' && item.position === BigInt(double.log.all.at(-1)!.position),
    )

    assert.deepEqual(eventsIn(items), [])
  })

  it('refuses to read one of its streams that another program has written to', async () => {
    const { store } = given
    const { stream, ids } = await givenStreamOf(store, 1)
    appendForeign(stream)

    await assert.rejects(collect(store.readStream(stream)), {
      name: 'StreamUnreadable',
      message: new RegExp(`stream ${stream} .* at position [0-9]+ .*did not write its event 1`),
    })
    await assert.rejects(collect(store.readStream(stream, { backwards: true })), { name: 'StreamUnreadable' })
    assert.deepEqual(await idsIn(store.readAll()), ids)
  })

  it('refuses to read a stream whose first events were removed, in either direction', async () => {
    const { double, store } = given
    const { stream, ids } = await givenStreamOf(store, 4)
    double.log.hideBefore(stream, 2)
    const refused = { name: 'StreamUnreadable', message: /its events before 2 were removed/ }

    await assert.rejects(collect(store.readStream(stream)), refused)
    await assert.rejects(collect(store.readStream(stream, { from: 1n })), refused)
    await assert.rejects(collect(store.readStream(stream, { backwards: true })), refused)
    assert.deepEqual(await idsIn(store.readStream(stream, { from: 2n })), ids.slice(2))
    assert.deepEqual(
      await idsIn(store.readStream(stream, { backwards: true, limit: 2 })),
      ids.slice(2).reverse(),
    )
  })

  it('refuses to read a tombstoned stream, and does not report the store as unavailable', async () => {
    const { double } = given
    const reports: unknown[] = []
    const health = {
      report: (_: string, error: unknown) => {
        if (error !== null) reports.push(error)
      },
    }
    const store = await openEventStoreDb(double.url, { health })
    const { stream } = await givenStreamOf(store, 2)
    double.log.delete('tombstone', stream, 'any')

    await assert.rejects(collect(store.readStream(stream)), {
      name: 'StreamUnreadable',
      message: /was deleted/,
    })
    await assert.rejects(store.append(stream, 1n, [arbitraryEvent()]), { name: 'StreamUnreadable' })

    assert.ok(reports.every((error) => error instanceof StreamUnreadable))
    await store.close()
  })

  it('refuses a server that gives no positions with the events of a stream', async () => {
    const { double, store } = given
    const { stream } = await givenStreamOf(store, 1)
    double.misbehaviour.hidePositions = true

    await assert.rejects(collect(store.readStream(stream)), { name: 'StoreUnavailable', message: /too old/ })
  })

  for (const part of ['data', 'metadata'] as const)
    it(`delivers an event as unreadable when a byte of its ${part} was changed`, async () => {
      const { double, store } = given
      const { stream, ids } = await givenStreamOf(store, 3)
      const damaged = double.log.all[1]!
      damaged[part][damaged[part].indexOf('e'.charCodeAt(0))] = 'i'.charCodeAt(0)
      const reason = 'it is not as it was written'
      const isDamaged = ({ unreadable }: RecordedEvent) => unreadable === reason

      await assert.rejects(collect(store.readStream(stream)), {
        name: 'StreamUnreadable',
        position: BigInt(damaged.position),
      })
      const items = await collectUntil(store.subscribeAll(), ({ kind }) => kind === 'caughtUp')
      const reads = [
        await collect(store.readStream(stream, { withUnreadable: true })),
        await collect(store.readAll()),
        eventsIn(items),
      ]

      for (const events of reads) {
        assert.deepEqual(idsOf(events), ids)
        assert.deepEqual(events.map(isDamaged), [false, true, false])
      }
      const types = new Set([damaged.type])
      assert.equal((await collect(store.readBackwards(types))).length, 2)
      const whole = await collect(store.readBackwards(types, { withUnreadable: true }))
      assert.deepEqual(whole.map(isDamaged), [false, true, false])
    })

  it('copies an event with the salt of its original', async () => {
    const { store } = given
    await givenStreamOf(store, 1)
    const [original] = await collect(store.readAll({ withSeals: true }))
    const stream = arbitraryStream()

    await store.append(stream, 'none', [original!])

    const [, copy] = await collect(store.readAll({ withSeals: true }))
    assert.equal(copy!.seal!.length, 48)
    assert.deepEqual(copy!.seal, original!.seal)
  })

  it('reads the digits that earlier releases wrote into the metadata', async () => {
    const { double, store } = given
    const { metadata } = arbitraryEvent()
    const withDigits = {
      ...metadata,
      digits: [
        [['list', '0'], '-9007199254740993'],
        [['missing'], '1.0'],
      ],
    }
    const event = foreign({
      data: text('{"list":[-9007199254740992]}'),
      metadata: text(JSON.stringify(withDigits)),
    })
    double.log.append({ stream: 'calls-1', expected: 'any', events: [event] })

    const [read] = await collect(store.readStream('calls-1'))

    assert.equal(jsonText(read!.data), '{"list":[-9007199254740993]}')
    assert.deepEqual(read!.metadata, metadata)
  })

  it('leaves with the server what a slow reader does not take', async () => {
    const { double, store } = given
    for (let n = 0; n < 50; n += 1)
      await store.append(
        arbitraryStream(),
        'none',
        arbitraryEvents(100).map((event) => ({ ...event, data: { text: 'x'.repeat(4000) } })),
      )
    const reads = [store.subscribeAll()[Symbol.asyncIterator](), store.readAll()[Symbol.asyncIterator]()]
    for (const read of reads) await read.next()

    let written = -1
    while (written !== double.written()) {
      written = double.written()
      await sleep(100)
    }

    assert.ok(written < 2 * 1500, `${written} of 10000 events were sent`)
    for (const read of reads) await read.return?.(undefined)
  })

  it('ends its subscription with the server when its reader stops', async () => {
    const { double, store } = given
    await givenStreamOf(store, 3)

    await collectUntil(store.subscribeAll(), () => true)

    await until(() => double.subscriptions() === 0)
  })

  it('keeps its connection while a thousand reads are left after their first event', async () => {
    const { double, store } = given
    const { stream } = await givenStreamOf(store, 3)
    const asked = double.asked()

    for (let n = 0; n < 600; n += 1) {
      await collectUntil(store.readStream(stream), () => true)
      await collectUntil(store.readAll(), () => true)
    }
    await store.append(stream, 2n, [arbitraryEvent()])

    assert.equal(double.asked(), asked)
  })
})
