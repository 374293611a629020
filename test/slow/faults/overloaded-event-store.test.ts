import assert from 'node:assert/strict'
import { openEventStoreDb } from '../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import { ConcurrencyConflict } from '../../../src/kernel/ports/event-store-errors.js'
import { arbitraryEvent, arbitraryStream } from '../../contract/event-store/arbitrary-events.js'
import { collect, idsIn } from '../../contract/event-store/collect.js'
import {
  startProtocolDouble,
  type ProtocolDouble,
} from '../../support/eventstoredb-protocol-double/double.js'

/** As many as 16 clients send that each write a batch of 500. */
const MANY = 8_000

describe('an EventStoreDB (a protocol double) that gets more at once than it can take in seconds', () => {
  let double: ProtocolDouble
  let store: EventStore
  beforeEach(async () => {
    double = await startProtocolDouble({ misbehaviour: { requestsPerSecond: 2_000 } })
    store = await openEventStoreDb(double.url)
  })
  afterEach(async () => {
    await store.close()
    await double.stop()
  })

  it('gets each append once, and all are acknowledged', async () => {
    const streams = Array.from({ length: MANY }, arbitraryStream)
    const before = double.served()

    const appended = await Promise.allSettled(
      streams.map((stream) => store.append(stream, 'none', [arbitraryEvent()])),
    )

    const failures = appended.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
    assert.deepEqual([...new Set(failures)], [], `${failures.length} of ${MANY} appends failed`)
    assert.equal(double.served() - before, MANY)
    assert.ok(double.mostUnderWay() <= 500, `${double.mostUnderWay()} were under way`)
  })

  it('answers appends that conflict, which are looked up, while streams are read', async () => {
    const streams = Array.from({ length: 600 }, arbitraryStream)
    await Promise.all(streams.map((stream) => store.append(stream, 'none', [arbitraryEvent()])))

    const outcomes = await Promise.allSettled([
      ...streams.map((stream) => store.append(stream, 'none', [arbitraryEvent()])),
      ...streams.map((stream) => collect(store.readStream(stream))),
    ])

    const conflicts = outcomes.slice(0, streams.length)
    assert.ok(
      conflicts.every((one) => one.status === 'rejected' && one.reason instanceof ConcurrencyConflict),
    )
    const reads = outcomes.slice(streams.length)
    assert.ok(reads.every((one) => one.status === 'fulfilled' && (one.value as unknown[]).length === 1))
  })

  it('has few reads of streams under way, and answers all', async () => {
    const stream = arbitraryStream()
    const event = arbitraryEvent()
    await store.append(stream, 'none', [event])

    const reads = await Promise.all(Array.from({ length: 2_000 }, () => idsIn(store.readStream(stream))))

    assert.ok(reads.every(([id]) => id === event.id))
    assert.ok(double.mostUnderWay() <= 64, `${double.mostUnderWay()} were under way`)
  })
})
