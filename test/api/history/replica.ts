import { once } from 'node:events'
import { openInMemorySecretStore } from '../../../src/adapters/secrets/in-memory-secret-store.js'
import { startService } from '../../../src/composition/service.js'
import { readConfig } from '../../../src/config.js'
import type { EventStore, Position } from '../../../src/kernel/ports/event-store.js'
import type { ClickHouse } from '../../../src/kernel/ports/clickhouse.js'
import { scratchDirectory } from '../../support/scratch.js'
import { ADMINISTRATOR_KEY, type TestService } from '../../support/service.js'

/** Where a log ends for now. */
interface End {
  readonly position: () => Position
  /** Ends when the log goes on, or when nobody waits any more. */
  readonly moved: (signal: AbortSignal | undefined) => Promise<void>
}

/** A log that ends somewhere, and of whose subscriptions the beginning is left out, as if nothing had stood there. */
const partOf = (store: EventStore, from: Position, end: End): EventStore => ({
  append: () => Promise.reject(new Error('the past is not written to')),
  checkWritable: () => Promise.resolve(),
  readStream: async function* (stream, { limit = Infinity, ...options } = {}) {
    let left = limit
    for await (const event of store.readStream(stream, options)) {
      if (event.position > end.position()) continue
      if (left <= 0) return
      left -= 1
      yield event
    }
  },
  readAll: async function* ({ after = 0n, limit = Infinity } = {}) {
    let left = limit
    for await (const event of store.readAll({ after: after > from ? after : from })) {
      if (event.position > end.position() || left <= 0) return
      left -= 1
      yield event
    }
  },
  readBackwards: async function* (...range) {
    for await (const event of store.readBackwards(...range))
      if (event.position <= end.position() && event.position > from) yield event
  },
  subscribeAll: async function* ({ after = 0n, signal } = {}) {
    let last = after > from ? after : from
    while (signal?.aborted !== true) {
      const to = end.position()
      for await (const event of store.readAll({ after: last })) {
        if (event.position > to) break
        yield { kind: 'event', event }
      }
      yield { kind: 'caughtUp' }
      yield { kind: 'checkpoint', position: to }
      last = to
      if (end.position() === to) await end.moved(signal)
    }
  },
  head: () => Promise.resolve(end.position()),
  close: () => Promise.resolve(),
})

const movable = (first: Position): End & { readonly move: (position: Position) => void } => {
  let position = first
  let moving = new AbortController()
  return {
    position: () => position,
    moved: async (signal) => {
      const either = AbortSignal.any(signal === undefined ? [moving.signal] : [moving.signal, signal])
      if (!either.aborted) await once(either, 'abort')
    },
    move: (next) => {
      position = next
      moving.abort()
      moving = new AbortController()
    },
  }
}

const LOG = { info: () => undefined, warn: () => undefined, error: () => undefined }

export interface Replica {
  readonly address: string
  /** Lets its log go on up to a position; what is asked from then on with that as its least position knows it. */
  readonly goOnTo: (position: Position) => void
  readonly stop: () => Promise<void>
}

/**
 * A fresh service over the events of another up to a position, those at or before `from` left out, with empty tables. It
 * has never seen what comes later.
 */
export const replayed = async (
  { stores }: TestService,
  clickHouse: ClickHouse,
  from: Position,
  to: Position,
): Promise<Replica> => {
  for (const { name } of await clickHouse.writer.query<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND name != 'schema_version'",
  ))
    await clickHouse.writer.command(`TRUNCATE TABLE ${name}`)
  const config = readConfig({
    TALLYTREE_PORT: '0',
    TALLYTREE_DATA_DIR: await scratchDirectory(),
    TALLYTREE_BOOTSTRAP_API_KEY: ADMINISTRATOR_KEY,
  })
  const end = movable(to)
  const eventStore = partOf(stores.eventStore, from, end)
  const lent = { ...clickHouse, close: () => Promise.resolve() }
  const { address, stop } = await startService(
    config,
    { ...stores, eventStore, clickHouse: lent, secrets: openInMemorySecretStore() },
    LOG,
  )
  return { address, goOnTo: end.move, stop }
}
