import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteEventStore } from '../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import {
  aliasAdded,
  automationCreated,
  startDispatching,
  webhookCreated,
} from '../../test/support/dispatching.js'
import { watchDeliveries } from './watched-deliveries.js'
import { notingBetween, type InBetween } from './work-in-between.js'

/** A dispatcher in a process of its own, with a quick team, and a slow one beside it where receivers are given for that. */
export interface Team {
  /** Where the quick team's messages go. */
  readonly receiver: string
  /** Receivers of the slow team. */
  readonly slow: readonly string[]
}

export interface Phase {
  readonly seconds: number
  /** When each of the slow team's receivers gets an event more, beside those that wait for it already. */
  readonly slowEvents: 'never' | 'each second'
}

/** What the quick team waited in a phase. */
export interface Waits {
  readonly between: readonly InBetween[]
  /** How many deliveries of the slow team were scheduled in between. */
  readonly overtaken: readonly number[]
  /** How many attempts of the slow team ended meanwhile. */
  readonly endedOfOthers: number
}

const EVENTS_PER_SECOND = 100

const { receiver, slow } = JSON.parse(process.env['TEAM'] ?? '') as Team
const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const store = openSqliteEventStore(join(directory, 'events.db'))
const { eventStore, noted } = notingBetween(store, (stream) => stream === 'artifact-quick/p/model')
const log = await startDispatching(eventStore)

const webhookOf = async (team: string, id: string, url: string): Promise<void> => {
  await log.append(`webhook-${id}`, webhookCreated(id, url, { team }))
  const scope = { type: 'project', entity: team, project: 'p' }
  await log.append(`automation-${id}`, automationCreated(id, id, { team, scope }))
}
const write = (team: string) =>
  log.append(`artifact-${team}/p/model`, aliasAdded('production', { team, project_id: `${team}/p` }))

/** Until each receiver of the slow team has answered, or hung, once. */
const slowKnown = async (): Promise<void> => {
  await write('slow')
  const known = new Set<string>()
  for await (const item of eventStore.subscribeAll()) {
    if (item.kind === 'event' && item.event.type === 'AttemptFinished') known.add(item.event.stream)
    if (known.size === slow.length) break
  }
}

const phase = async ({ seconds, slowEvents }: Phase): Promise<Waits> => {
  noted.splice(0)
  const stopping = new AbortController()
  const { seen, watched } = await watchDeliveries(eventStore, stopping.signal, 'quick')
  const began = performance.now()
  for (let event = 0; event < EVENTS_PER_SECOND * seconds; event += 1) {
    const early = began + (event * 1000) / EVENTS_PER_SECOND - performance.now()
    if (early > 0) await sleep(early)
    void write('quick')
    // In between two of them, as it would be where neither knows of the other.
    if (slow.length > 0 && slowEvents === 'each second' && event % EVENTS_PER_SECOND === 0)
      setTimeout(() => void write('slow'), (Math.random() * 1000) / EVENTS_PER_SECOND)
  }
  // What is still scheduled behind it would be met by whoever is measured next.
  const scheduledOfOthers = slowEvents === 'never' ? 0 : slow.length * seconds
  while (seen.ended < EVENTS_PER_SECOND * seconds || seen.scheduledOfOthers < scheduledOfOthers)
    await sleep(20)
  stopping.abort()
  await watched
  return { between: noted.splice(0), overtaken: seen.overtaken, endedOfOthers: seen.endedOfOthers }
}

await webhookOf('quick', 'quick', receiver)
for (const [n, url] of slow.entries()) await webhookOf('slow', `slow-${n}`, url)
const { caughtUp } = await log.start()
await caughtUp
if (slow.length > 0) await slowKnown()
process.on('message', (asked: Phase) => void phase(asked).then((waits) => process.send?.(waits)))
process.once('disconnect', () => {
  void log
    .stop(0)
    .then(() => rm(directory, { recursive: true, force: true }))
    .then(() => process.exit(0))
})
