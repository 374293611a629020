import { openInMemorySecretStore } from '../../src/adapters/secrets/in-memory-secret-store.js'
import { startService } from '../../src/composition/service.js'
import type { Service } from '../../src/composition/service.js'
import { readConfig } from '../../src/config.js'
import type { EventStore, Position } from '../../src/domain/ports/event-store.js'
import type { ClickHouse } from '../../src/domain/ports/clickhouse.js'
import { ADMINISTRATOR_KEY, type TestService } from '../support/service.js'

/** A log that ends at a position, and of whose subscriptions the beginning is left out, as if nothing had stood there. */
const partOf = (store: EventStore, from: Position, to: Position): EventStore => ({
  append: () => Promise.reject(new Error('the past is not written to')),
  readStream: async function* (stream, { limit = Infinity, ...options } = {}) {
    let left = limit
    for await (const event of store.readStream(stream, options)) {
      if (event.position > to) continue
      if (left <= 0) return
      left -= 1
      yield event
    }
  },
  readAll: async function* ({ after = 0n, limit = Infinity } = {}) {
    let left = limit
    for await (const event of store.readAll({ after: after > from ? after : from })) {
      if (event.position > to || left <= 0) return
      left -= 1
      yield event
    }
  },
  subscribeAll: async function* ({ after = 0n, signal } = {}) {
    for await (const event of store.readAll({ after: after > from ? after : from })) {
      if (event.position > to) break
      yield { kind: 'event', event }
    }
    yield { kind: 'caughtUp' }
    yield { kind: 'checkpoint', position: to }
    await new Promise((resolve) => signal?.addEventListener('abort', resolve))
  },
  head: async () => {
    let last = 0n
    for await (const { position } of store.readAll({ after: from })) if (position <= to) last = position
    return last
  },
  close: () => Promise.resolve(),
})

const LOG = { info: () => undefined, warn: () => undefined, error: () => undefined }

/**
 * A fresh service over the events of another up to a position, those at or before `from` left out, with empty tables.
 */
export const replayed = async (
  { stores }: TestService,
  clickHouse: ClickHouse,
  from: Position,
  to: Position,
): Promise<Service> => {
  for (const { name } of await clickHouse.writer.query<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND name != 'migrations'",
  ))
    await clickHouse.writer.command(`TRUNCATE TABLE ${name}`)
  const config = readConfig({ TALLYTREE_PORT: '0', TALLYTREE_BOOTSTRAP_API_KEY: ADMINISTRATOR_KEY })
  const eventStore = partOf(stores.eventStore, from, to)
  const lent = { ...clickHouse, close: () => Promise.resolve() }
  return startService(
    config,
    { ...stores, eventStore, clickHouse: lent, secrets: openInMemorySecretStore() },
    LOG,
  )
}
