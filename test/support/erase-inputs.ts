import { join } from 'node:path'
import { openSqliteEventStore } from '../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import type { Erasure } from '../../src/kernel/ports/event-store.js'

/** Erases the inputs of every second call in the log of a stopped service. Returns the number of erased events. */
export const eraseInputs = async (dataDirectory: string): Promise<number> => {
  const store = openSqliteEventStore(join(dataDirectory, 'events.db'))
  async function* erasures(): AsyncGenerator<Erasure> {
    for await (const { type, position, data } of store.readAll())
      if (type === 'CallStarted' && position % 2n === 0n)
        yield { position, data: { ...data, inputs: { erased: true } } }
  }
  try {
    return (await store.erase!(erasures())).events
  } finally {
    await store.close()
  }
}
