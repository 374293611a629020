import assert from 'node:assert/strict'
import { join } from 'node:path'
import fc from 'fast-check'
import { openSqliteEventStore } from '../../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import type { EventStore } from '../../../../src/kernel/ports/event-store.js'
import { arbitraryEvent, arbitraryStream } from '../../../contract/event-store/arbitrary-events.js'
import { collect } from '../../../contract/event-store/collect.js'
import { temporaryDirectory, type TemporaryDirectory } from './temporary-directory.js'
import { afterEvents } from '../../../support/append-next.js'

const STREAMS = [1, 7, 60, 500, 6000]
const MOST = Math.max(...STREAMS)

describe('streams that were written partly just now, partly before', () => {
  let directory: TemporaryDirectory
  let store: EventStore
  let streams: readonly string[]
  before(async () => {
    directory = await temporaryDirectory()
    store = openSqliteEventStore(join(directory.path, 'events.db'))
    streams = STREAMS.map(arbitraryStream)
    // Their last events are of about the same time, so that of the long ones the first are not recent.
    const appends = []
    for (let left = MOST; left > 0; left -= 1)
      for (const [index, count] of STREAMS.entries())
        if (left <= count) {
          const data = { number: count - left, text: 'x'.repeat(left % 50) }
          appends.push(store.append(streams[index]!, afterEvents(count - left), [arbitraryEvent({ data })]))
        }
    await Promise.all(appends)
  })
  after(async () => {
    await store.close()
    await directory.remove()
  })

  it('read the same from anywhere, as many as are asked for', async () => {
    const reads = fc.record({
      index: fc.nat({ max: STREAMS.length - 1 }),
      from: fc.option(fc.bigInt({ min: 0n, max: BigInt(MOST + 2) }), { nil: undefined }),
      limit: fc.option(fc.integer({ min: 1, max: 1200 }), { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(reads, async ({ index, from, limit }) => {
        const read = await collect(
          store.readStream(streams[index]!, {
            ...(from === undefined ? {} : { from }),
            ...(limit === undefined ? {} : { limit }),
          }),
        )

        const first = Number(from ?? 0n)
        const count = Math.max(0, Math.min(STREAMS[index]! - first, limit ?? Infinity))
        assert.deepEqual(
          read.map(({ data }) => data['number']),
          Array.from({ length: count }, (_, at) => first + at),
        )
        assert.deepEqual(
          read.map(({ revision }) => revision),
          Array.from({ length: count }, (_, at) => BigInt(first + at)),
        )
      }),
      { numRuns: 100 },
    )
  })

  it('are as they would be read anew', async () => {
    const before = await Promise.all(streams.map((stream) => collect(store.readStream(stream))))
    await store.close()
    store = openSqliteEventStore(join(directory.path, 'events.db'))
    const after = await Promise.all(streams.map((stream) => collect(store.readStream(stream))))

    assert.deepEqual(before, after)
  })

  it('may be changed by who reads them', async () => {
    const stream = arbitraryStream()
    await store.append(stream, 'none', [arbitraryEvent({ data: { list: [1] } })])
    for (const { data } of await collect(store.readStream(stream))) (data['list'] as number[]).push(2)

    const [read] = await collect(store.readStream(stream))
    assert.deepEqual(read?.data, { list: [1] })
  })
})
