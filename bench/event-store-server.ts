import { randomUUID } from 'node:crypto'
import { EventStoreDBClient, jsonEvent, START } from '@eventstore/db-client'
import { openEventStoreDb } from '../src/adapters/event-store/eventstoredb/event-store-db.js'
import type { EventStore, NewEvent } from '../src/kernel/ports/event-store.js'
import { startChildDouble } from '../test/support/eventstoredb-protocol-double/child.js'

/**
 * What does the adapter of EventStoreDB cost over its bare client? Both speak to the protocol double in a process of its
 * own, so the figures say nothing about a server: they are what one process can do at most. No goal.
 */

const MS = Number(process.env['SECONDS'] ?? 2) * 1000
const PAYLOAD = { text: 'x'.repeat(900) }

interface Subject {
  readonly append: (stream: string, events: number) => Promise<unknown>
  readonly readAll: () => AsyncIterable<unknown>
  /** Until `count` events have come. */
  readonly catchUp: (count: number) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

const newEvent = (): NewEvent => ({
  id: randomUUID(),
  type: 'CallStarted',
  data: PAYLOAD,
  metadata: { correlationId: randomUUID(), causationId: randomUUID(), actor: 'bench', schemaVersion: 1 },
})

const many = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)

const ofAdapter = (store: EventStore): Subject => ({
  append: (stream, events) => store.append(stream, 'none', many(events, newEvent)),
  readAll: () => store.readAll(),
  catchUp: async (count) => {
    let seen = 0
    for await (const { kind } of store.subscribeAll()) if (kind === 'event' && ++seen === count) return
  },
  close: () => store.close(),
})

const ofClient = (client: EventStoreDBClient): Subject => ({
  append: (stream, events) =>
    client.appendToStream(
      stream,
      many(events, () => jsonEvent({ ...newEvent() })),
      { expectedRevision: 'no_stream' },
    ),
  readAll: () => client.readAll({ fromPosition: START }),
  catchUp: async (count) => {
    let seen = 0
    const subscription = client.subscribeToAll({ fromPosition: START })
    subscription.on('error', () => undefined)
    for await (const { event } of subscription) if (event !== undefined && ++seen === count) break
    await subscription.unsubscribe()
  },
  close: () => client.dispose(),
})

/** Events a second. */
const appendRate = async ({ append }: Subject, inFlight: number, events: number): Promise<number> => {
  const begin = performance.now()
  let appended = 0
  const writer = async () => {
    while (performance.now() - begin < MS) {
      await append(`bench-${randomUUID()}`, events)
      appended += events
    }
  }
  await Promise.all(many(inFlight, writer))
  return (appended / (performance.now() - begin)) * 1000
}

const timed = async (events: number, run: () => Promise<unknown>): Promise<number> => {
  const begin = performance.now()
  await run()
  return (events / (performance.now() - begin)) * 1000
}

const count = async (events: AsyncIterable<unknown>): Promise<number> => {
  let seen = 0
  for await (const event of events) seen += Number(event !== undefined)
  return seen
}

const READ = 30_000

const measure = async (
  open: (url: string) => Subject | Promise<Subject>,
): Promise<Record<string, number>> => {
  const double = await startChildDouble()
  const subject = await open(double.url)
  const rates = {
    'appends/s, 1 in flight': await appendRate(subject, 1, 1),
    'appends/s, 64 in flight': await appendRate(subject, 64, 1),
    'events/s, batches of 100, 1 in flight': await appendRate(subject, 1, 100),
    'events/s, batches of 100, 8 in flight': await appendRate(subject, 8, 100),
  }
  const stored = await count(subject.readAll())
  if (stored < READ)
    await Promise.all(
      many(Math.ceil((READ - stored) / 100), () => subject.append(`bench-${randomUUID()}`, 100)),
    )
  const all = await count(subject.readAll())
  const reading = {
    'events/s, readAll': await timed(all, () => count(subject.readAll())),
    'events/s, catching up': await timed(all, () => subject.catchUp(all)),
  }
  await subject.close()
  await double.kill()
  return { ...rates, ...reading }
}

const bare = await measure((url) => ofClient(EventStoreDBClient.connectionString(url)))
const adapter = await measure(async (url) => ofAdapter(await openEventStoreDb(url)))
for (const [name, rate] of Object.entries(adapter)) {
  const baseline = bare[name]!
  console.log(
    `        ${name}: ${rate.toFixed(0)}, bare client ${baseline.toFixed(0)}, ratio ${(rate / baseline).toFixed(2)}`,
  )
}
process.exit(0)
