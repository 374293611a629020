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
import { median, ratio } from './support/report.js'
import { watchDeliveries } from './support/watched-deliveries.js'

/**
 * How much longer does a team wait for its first attempts while 300 webhooks of another team hang and 8 have names that
 * lead nowhere? The same dispatcher without them first, then with them.
 */

const SECONDS = Number(process.env['SECONDS'] ?? 5)
const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const EVENTS_PER_SECOND = 100
const HANGING = 300
const NOWHERE = 8
const GOAL = 1.1

const fast = await startChild('bench/support/fast-receivers.ts', {})
const hanging = await startChild('bench/support/hanging-receivers.ts', {})
const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const eventStore = openSqliteEventStore(join(directory, 'events.db'))
const log = await startDispatching(eventStore)

const webhookOf = async (team: string, id: string, url: string): Promise<void> => {
  await log.append(`webhook-${id}`, webhookCreated(id, url, { team }))
  const scope = { type: 'project', entity: team, project: 'p' }
  await log.append(`automation-${id}`, automationCreated(id, id, { team, scope }))
}
const write = (team: string) =>
  log.append(`artifact-${team}/p/model`, aliasAdded('production', { team, project_id: `${team}/p` }))

await webhookOf('quick', 'quick', `${fast.address}/hook`)
const { port } = new URL(hanging.address)
for (let n = 0; n < HANGING; n += 1)
  await webhookOf('slow', `hanging-${n}`, `http://127.1.${n >> 7}.${(n & 127) + 1}:${port}/hook`)
for (let n = 0; n < NOWHERE; n += 1)
  await webhookOf('slow', `nowhere-${n}`, `http://nowhere-${n}.invalid/hook`)
const dispatcher = await log.start()
await dispatcher.caughtUp

/** The 99th percentile of the quick team's waiting, in milliseconds; `beside` is done once a second meanwhile. */
const p99 = async (beside: () => Promise<void>): Promise<number> => {
  const stopping = new AbortController()
  const { seen, watched } = await watchDeliveries(eventStore, stopping.signal, (team) => team === 'quick')
  const began = performance.now()
  for (let event = 0; event < EVENTS_PER_SECOND * SECONDS; event += 1) {
    const early = began + (event * 1000) / EVENTS_PER_SECOND - performance.now()
    if (early > 0) await sleep(early)
    if (event % EVENTS_PER_SECOND === 0) await beside()
    void write('quick')
  }
  while (seen.ended < EVENTS_PER_SECOND * SECONDS) await sleep(20)
  stopping.abort()
  await watched
  const waited = [...seen.waited].sort((a, b) => a - b)
  return waited[Math.floor(waited.length * 0.99)]!
}

const nothing = () => Promise.resolve()
await p99(nothing)
const alone: number[] = []
const beside: number[] = []
for (let round = 0; round < ROUNDS; round += 1) alone.push(await p99(nothing))
await p99(() => write('slow'))
for (let round = 0; round < ROUNDS; round += 1) beside.push(await p99(() => write('slow')))
const times = median(beside) / median(alone)
ratio(
  `p99 of another team beside ${HANGING} hanging webhooks ÷ without`,
  times,
  `<= ${GOAL}`,
  times <= GOAL,
  `${alone.join(', ')} ms alone; ${beside.join(', ')} ms beside`,
)
await dispatcher.stop(0)
await log.stop()
await Promise.all([fast.stop(), hanging.stop(), rm(directory, { recursive: true, force: true })])
