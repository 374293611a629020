import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openInMemoryBlobStore } from '../../../src/adapters/blobs/in-memory-blob-store.js'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { storedLog, openService } from '../../../src/composition/log-sources.js'
import { openLogCopy, type RepeatedEvent } from '../../../src/adapters/event-store/sqlite/log-copy.js'
import { openSqliteEventStore } from '../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { openEventStoreDb } from '../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import { copyEvents } from '../../../src/cli/copy-events.js'
import { fileSink, storeSink } from '../../../src/cli/log-sinks.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { parseJson } from '../../../src/kernel/json/parse.js'
import { jsonText } from '../../../src/kernel/json/text.js'
import type { BlobStore } from '../../../src/kernel/ports/blobs.js'
import type { EventStore, Position, RecordedEvent } from '../../../src/kernel/ports/event-store.js'
import type { LogSource } from '../../../src/kernel/ports/log-source.js'
import { projections } from '../../../src/projections/all.js'
import { digestsOf } from '../../../src/projections/audit/queries.js'
import { migrate } from '../../../src/projections/migrate.js'
import { insertBatch } from '../../../src/projections/runtime/insert-batch.js'
import { newEvent } from '../../../src/kernel/event.js'
import { each } from '../../contract/event-store/erasing.js'
import { append, PROJECT, startOf } from '../projections/given-log.js'
import { openTestClickHouse } from '../../support/engine.js'
import {
  startProtocolDouble,
  type ProtocolDouble,
} from '../../support/eventstoredb-protocol-double/double.js'
import { PATIENT } from '../../support/eventstoredb-protocol-double/patient.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../support/service.js'

const all = async (events: AsyncIterable<RecordedEvent>) => {
  const found: RecordedEvent[] = []
  for await (const event of events) found.push(event)
  return found.map(({ size: _, seal: __, ...event }) => event)
}

describe('a copied log', () => {
  let directory: string
  let service: TestService
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-copies-'))
    service = await startTestService()
  })
  after(async () => {
    await service.stop()
    await rm(directory, { recursive: true, force: true })
  })

  const copied = async (source: LogSource, blobs: BlobStore, name: string = randomUUID()) => {
    const path = join(directory, name, 'events.db')
    const copy = openLogCopy(path)
    const repeated: RepeatedEvent[] = []
    const sink = fileSink(copy, (one) => void repeated.push(one))
    await copyEvents({ source, sink, blobs }, await source.head(), () => undefined)
    copy.close()
    return { path, repeated }
  }

  const digestsFrom = async (source: LogSource, blobs: BlobStore) => {
    const eventStore = openInMemoryEventStore()
    const clickHouse = await openTestClickHouse()
    try {
      await migrate(clickHouse.writer)
      const events: RecordedEvent[] = []
      for await (const event of source.readAll(0n)) events.push(event)
      assert.deepEqual(
        await insertBatch({ clickHouse: clickHouse.writer, blobs, projections, eventStore }, events),
        [],
      )
      return await digestsOf(clickHouse.reader, await source.head())
    } finally {
      await clickHouse.close()
    }
  }

  it('has the same events at the same positions as a log with gaps, and gives the same digests', async () => {
    const eventStore = openInMemoryEventStore()
    const blobs = openInMemoryBlobStore()
    for (const id of ['a', 'b', 'c']) await append(eventStore, 'CallStarted', startOf(id))
    await append(eventStore, 'CallRenamed', { project_id: PROJECT, id: 'a', display_name: '漢字😀' })
    const source = storedLog(eventStore, blobs)

    const target = openInMemoryBlobStore()
    const { path } = await copied(source, target)
    const copy = storedLog(openSqliteEventStore(path), target)

    assert.deepEqual(await all(copy.readAll(0n)), await all(source.readAll(0n)))
    assert.equal(await copy.head(), await source.head())
    assert.deepEqual(await digestsFrom(copy, target), await digestsFrom(source, blobs))
    await copy.close()
  })

  it('is the same when copied from a file and over HTTP, blobs included', async () => {
    const project_id = 'team/copied'
    for (const large of ['first', 'second']) {
      const val = { large: large.repeat(100_000) }
      const answer = await service.in(project_id).objects.create(large, val)
      assert.equal(answer.status, 200, answer.text)
    }
    const stored = storedLog(service.stores.eventStore, service.stores.blobs)
    const remote = await openService(service.address, ADMINISTRATOR_KEY)

    const blobs = [openInMemoryBlobStore(), openInMemoryBlobStore()] as const
    const both = [await copied(stored, blobs[0]), await copied(remote, blobs[1])]
    const copies = both.map(({ path }, at) => storedLog(openSqliteEventStore(path), blobs[at]!))

    const events = await all(stored.readAll(0n))
    const said = await remote.digestsAt(await stored.head())
    for (const [at, copy] of copies.entries()) {
      assert.deepEqual(await all(copy.readAll(0n)), events)
      const digests = await digestsFrom(copy, blobs[at]!)
      assert.deepEqual(said, { position: String(await copy.head()), digests })
      await copy.close()
    }
  })

  it('moves from a file to an EventStoreDB, played by the protocol double, and back, with the same digests', async () => {
    const project_id = 'team/moved'
    const val = { large: 'moved'.repeat(100_000) }
    await service.in(project_id).objects.create('moved', val)
    const source = storedLog(service.stores.eventStore, service.stores.blobs)
    const double = await startProtocolDouble()
    const store = await openEventStoreDb(double.url, PATIENT)
    try {
      const blobs = [openInMemoryBlobStore(), openInMemoryBlobStore()] as const
      const end = await source.head()
      const half = await copyEvents(
        { source, sink: storeSink(store), blobs: blobs[0] },
        end / 2n,
        () => undefined,
      )
      const rest = await copyEvents({ source, sink: storeSink(store), blobs: blobs[0] }, end, () => undefined)
      const moved = storedLog(store, blobs[0])
      const back = storedLog(openSqliteEventStore((await copied(moved, blobs[1])).path), blobs[1])

      const events = await all(source.readAll(0n))
      assert.equal(half + rest, events.length)
      assert.equal(
        await copyEvents({ source, sink: storeSink(store), blobs: blobs[0] }, end, () => undefined),
        0,
      )
      const unplaced = (log: LogSource) =>
        all(log.readAll(0n)).then((found) => found.map(({ position: _, recordedAt: __, ...event }) => event))
      assert.deepEqual(await unplaced(moved), await unplaced(source))
      assert.deepEqual(await all(back.readAll(0n)), await all(moved.readAll(0n)))
      const digests = await digestsFrom(source, service.stores.blobs)
      assert.deepEqual(await digestsFrom(moved, blobs[0]), digests)
      assert.deepEqual(await digestsFrom(back, blobs[1]), digests)
      await back.close()
    } finally {
      await store.close()
      await double.stop()
    }
  })

  it('gives an event with a duplicate id a new id, at the same position, and reports it', async () => {
    const double = await startProtocolDouble()
    const store = await openEventStoreDb(double.url, PATIENT)
    try {
      const stream = `intake-${PROJECT}`
      const cause = { correlationId: 'c', causationId: 'c', actor: 'a' }
      const proposed = ['1', '2'].map((raw) => {
        const event = newEvent(randomUUID(), { type: 'ElementRefused', data: { raw } }, cause)
        const bytes = (value: object) => new Uint8Array(Buffer.from(JSON.stringify(value)))
        const { id, type, data, metadata } = event
        return { id, type, contentType: 'application/json', data: bytes(data), metadata: bytes(metadata) }
      })
      const ids = proposed.map(({ id }) => id)
      double.log.append({ stream, expected: 'any', events: proposed })
      await double.restart()
      double.log.append({ stream, expected: 'any', events: proposed })
      const source = storedLog(store, openInMemoryBlobStore())
      const name = randomUUID()
      const { path, repeated } = await copied(source, openInMemoryBlobStore(), name)

      assert.deepEqual(
        repeated.map(({ id, stream: of }) => [id, of]),
        ids.map((id) => [id, stream]),
      )
      const copy = openSqliteEventStore(path)
      const [events, copies] = [await all(source.readAll(0n)), await all(copy.readAll())]
      await copy.close()
      assert.deepEqual(copies, [
        ...events.slice(0, 2),
        ...events.slice(2).map((event, at) => ({ ...event, id: repeated[at]!.copiedAs })),
      ])
      assert.deepEqual((await copied(source, openInMemoryBlobStore(), name)).repeated, [])
    } finally {
      await store.close()
      await double.stop()
    }
  })

  it('keeps duplicate ids when copied to an EventStoreDB', async () => {
    const double = await startProtocolDouble()
    const store = await openEventStoreDb(double.url, PATIENT)
    try {
      const memory = openInMemoryEventStore()
      await append(memory, 'CallStarted', startOf('a'))
      const [first] = await all(memory.readAll())
      const events = [0n, 1n, 2n].map((n) => ({ ...first!, revision: n, position: n + 1n, size: 1 }))
      const blobs = openInMemoryBlobStore()
      const source: LogSource = {
        ...storedLog(memory, blobs),
        readAll: async function* (after) {
          yield* events.filter(({ position }) => position > after)
        },
      }

      await copyEvents({ source, sink: storeSink(store), blobs }, 3n, () => undefined)

      const ids = (await all(store.readStream(first!.stream))).map(({ id }) => id)
      assert.deepEqual(ids, [first!.id, first!.id, first!.id])
    } finally {
      await store.close()
      await double.stop()
    }
  })

  describe('to an EventStoreDB', () => {
    const EVENTS = 300
    let source: LogSource
    let end: Position
    let double: ProtocolDouble
    let store: EventStore
    beforeEach(async () => {
      const eventStore = openInMemoryEventStore()
      for (let n = 0; n < EVENTS; n += 1) await append(eventStore, 'CallStarted', startOf(`call-${n}`))
      source = storedLog(eventStore, openInMemoryBlobStore())
      end = await source.head()
      double = await startProtocolDouble()
      store = await openEventStoreDb(double.url, { appendMs: 500 })
    })
    afterEach(async () => {
      await store.close()
      await double.stop()
    })
    const copyUpTo = (upTo: Position) =>
      copyEvents({ source, sink: storeSink(store), blobs: openInMemoryBlobStore() }, upTo, () => undefined)
    const idsIn = async (log: Pick<LogSource, 'readAll'>) => (await all(log.readAll(0n))).map(({ id }) => id)

    it('keeps the order when appends in the middle get no answer', async () => {
      double.misbehaviour.swallowAnswers = 40
      assert.equal(await copyUpTo(end), EVENTS)
      assert.deepEqual(await idsIn(storedLog(store, openInMemoryBlobStore())), await idsIn(source))
    })

    it('has many appends under way at once', async () => {
      double.misbehaviour.requestsPerSecond = 500
      await copyUpTo(end)
      assert.ok(double.mostUnderWay() > 10, `${double.mostUnderWay()} at once`)
    })

    it('copies beside the events of the server itself', async () => {
      const bytes = new Uint8Array(Buffer.from('{}'))
      const event = { id: randomUUID(), type: '$statsCollected', contentType: 'application/json' }
      double.log.append({
        stream: '$stats-0',
        expected: 'any',
        events: [{ ...event, data: bytes, metadata: bytes }],
      })
      assert.equal(await copyUpTo(end), EVENTS)
    })

    it('is refused, also when it is repeated, after the store lost an event that later ones follow', async () => {
      await copyUpTo(end / 2n)
      double.misbehaviour.ignoreAppends = 1
      await assert.rejects(copyUpTo(end), /lost their order; copy into an empty store/)
      await assert.rejects(copyUpTo(end), /lost their order; copy into an empty store/)
    })

    it('is refused when the store lacks one of the last events that were under way', async () => {
      const events = await all(source.readAll(0n))
      for (const [at, event] of events.slice(0, 200).entries())
        if (at !== 150) await store.append(event.stream, 'none', [event])
      await assert.rejects(copyUpTo(end), /lost their order; copy into an empty store/)
    })
  })

  it('is refused when the store contains another log', async () => {
    const [one, other] = [openInMemoryEventStore(), openInMemoryEventStore()]
    for (const store of [one, other]) await append(store, 'CallStarted', startOf('a'))
    const blobs = openInMemoryBlobStore()
    await assert.rejects(
      copyEvents(
        { source: storedLog(one, blobs), sink: storeSink(other), blobs },
        await one.head(),
        () => undefined,
      ),
      /events of another log/,
    )
  })

  it('resumes after an interruption, and is refused when the directory has a copy of another log', async () => {
    const eventStore = openInMemoryEventStore()
    const blobs = openInMemoryBlobStore()
    const source = storedLog(eventStore, blobs)
    await append(eventStore, 'CallStarted', startOf('a'))
    await copied(source, blobs, 'resumed')
    const wide = parseJson('{"ns":1700000000000000123}') as JsonObject
    await append(eventStore, 'CallStarted', { ...startOf('b'), inputs: wide })
    await copied(source, blobs, 'resumed')
    const { path } = await copied(source, blobs, 'resumed')
    const copy = openSqliteEventStore(path)
    assert.deepEqual(await all(copy.readAll()), await all(eventStore.readAll()))
    const [, last] = await all(copy.readAll())
    assert.equal(jsonText(last!.data['inputs']!), jsonText(wide))
    await copy.close()

    const other = openInMemoryEventStore()
    for (const id of ['a', 'b', 'c']) await append(other, 'CallStarted', startOf(id))
    await assert.rejects(copied(storedLog(other, blobs), blobs, 'resumed'), /contains another log/)
  })

  it('is continued after the source erased the last event that was copied', async () => {
    const store = openSqliteEventStore(join(directory, 'erased.db'))
    const blobs = openInMemoryBlobStore()
    const source = storedLog(store, blobs)
    await append(store, 'CallStarted', startOf('a'))
    await copied(source, blobs, 'continued')
    const data = { ...startOf('a'), inputs: { erased: true } }
    await store.erase!(each([{ position: await store.head(), data }]))
    await append(store, 'CallStarted', startOf('b'))
    const { path } = await copied(source, blobs, 'continued')
    const copy = openSqliteEventStore(path)
    assert.equal((await all(copy.readAll())).length, 2)
    assert.deepEqual(await copy.readPlaces!(0n, 9), await store.readPlaces!(0n, 9))
    await copy.close()
    await store.close()
  })

  it('is refused for a key that may not read the whole log', async () => {
    await assert.rejects(openService(service.address, 'not-the-key-of-anybody'), /its administrator's key/)
  })
})
