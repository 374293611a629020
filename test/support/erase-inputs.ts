import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { openSqliteEventStore } from '../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { rangesOf } from '../../src/application/erasures/erase-events.js'
import type { Erasure, NewEvent } from '../../src/kernel/ports/event-store.js'
import { appendNext } from './append-next.js'

/** Erases the inputs of every second call in the log of a stopped service, with a receipt. Returns the number of erased events. */
export const eraseInputs = async (dataDirectory: string): Promise<number> => {
  const store = openSqliteEventStore(join(dataDirectory, 'events.db'))
  const erasures: Erasure[] = []
  for await (const { type, position, data } of store.readAll())
    if (type === 'CallStarted' && position % 2n === 0n)
      erasures.push({ position, data: { ...data, inputs: { erased: true } } })
  try {
    const receipt = receiptOf(erasures.map(({ position }) => position))
    await appendNext(store, 'erasure-team/sealed/test', [receipt])
    return (await store.erase!(Readable.from(erasures))).events
  } finally {
    await store.close()
  }
}

const receiptOf = (positions: readonly bigint[]): NewEvent => ({
  id: randomUUID(),
  type: 'CallsErased',
  data: {
    ...{ project_id: 'team/sealed', id: 'test', part: 0, bytes: 0, unreadable: 0, blobs: [] },
    ...{ calls: positions.length, events: positions.length, positions: rangesOf(positions) },
  },
  metadata: { correlationId: 'test', causationId: 'test', actor: 'test', schemaVersion: 1 },
})
