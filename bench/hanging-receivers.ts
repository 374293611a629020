import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteEventStore } from '../src/adapters/event-store/sqlite/sqlite-event-store.js'
import {
  aliasAdded,
  automationCreated,
  startDispatching,
  webhookCreated,
} from '../test/support/dispatching.js'
import { startChild } from './support/child.js'
import { p99, ratio } from './support/report.js'
import { watchDeliveries } from './support/watched-deliveries.js'

/**
 * How long does a team wait for its first attempts, at 100 events/s, while 300 webhooks of another team hang and get an
 * event each second?
 */

const SECONDS = Number(process.env['SECONDS'] ?? 30)
const EVENTS_PER_SECOND = 100
const HANGING = 300
const GOAL_MS = 50

const fast = await startChild('bench/support/fast-receivers.ts', {})
const hanging = await startChild('bench/support/hanging-receivers.ts', {})
const { port } = new URL(hanging.address)
const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const eventStore = openSqliteEventStore(join(directory, 'events.db'))
const log = await startDispatching(eventStore)

const addWebhook = async (team: string, id: string, url: string): Promise<void> => {
  await log.append(`webhook-${id}`, webhookCreated(id, url, { team }))
  const scope = { type: 'project', entity: team, project: 'p' }
  await log.append(`automation-${id}`, automationCreated(id, id, { team, scope }))
}
const addAlias = (team: string) =>
  log.append(`artifact-${team}/p/model`, aliasAdded('production', { team, project_id: `${team}/p` }))

await addWebhook('healthy', 'healthy', `${fast.address}/hook`)
for (let n = 0; n < HANGING; n += 1)
  await addWebhook('hanging', `hanging-${n}`, `http://127.1.${n >> 7}.${(n & 127) + 1}:${port}/hook`)
await (
  await log.start()
).caughtUp

const measured = async (withHanging: boolean): Promise<readonly number[]> => {
  const stopping = new AbortController()
  const { seen, watched } = await watchDeliveries(eventStore, stopping.signal, 'healthy')
  const began = performance.now()
  for (let event = 0; event < EVENTS_PER_SECOND * SECONDS; event += 1) {
    const early = began + (event * 1000) / EVENTS_PER_SECOND - performance.now()
    if (early > 0) await sleep(early)
    void addAlias('healthy')
    if (withHanging && event % EVENTS_PER_SECOND === 0)
      setTimeout(() => void addAlias('hanging'), Math.random() * 10)
  }
  while (seen.ended < EVENTS_PER_SECOND * SECONDS) await sleep(20)
  stopping.abort()
  await watched
  return seen.waited
}

const alone = await measured(false)
const beside = await measured(true)
ratio(
  `p99 in ms from event to first attempt while ${HANGING} webhooks of another team hang`,
  p99(beside),
  `< ${GOAL_MS}`,
  p99(beside) < GOAL_MS,
  `${beside.length} deliveries at ${EVENTS_PER_SECOND} events/s; without them ${p99(alone)} ms`,
)
await log.stop(0)
await Promise.all([fast.stop(), hanging.stop(), rm(directory, { recursive: true, force: true })])
