import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import got from 'got'
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
 * How many deliveries a second, each scheduled, begun and ended durably, to fast receivers on the loopback addresses,
 * against a bare loop of got that posts the same? The two in turn. And how long from an event to its first attempt, at
 * 200 events a second?
 */

const SECONDS = Number(process.env['SECONDS'] ?? 6)
const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
const EVENTS_PER_SECOND = 200
const TEAMS = 4
const WEBHOOKS_OF_A_TEAM = 2
const AT_A_TIME = 64
const BACKLOG = 1500
const EVENTS_AT_ONCE = 100

const receivers = await startChild('bench/support/fast-receivers.ts', {})
const { port } = new URL(receivers.address)
const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const eventStore = openSqliteEventStore(join(directory, 'events.db'))
const log = await startDispatching(eventStore)

for (let team = 0; team < TEAMS; team += 1)
  for (let webhook = 0; webhook < WEBHOOKS_OF_A_TEAM; webhook += 1) {
    const id = `${team}-${webhook}`
    const own = { team: `team-${team}` }
    const url = `http://127.0.0.${team * WEBHOOKS_OF_A_TEAM + webhook + 1}:${port}/hook`
    await log.append(`webhook-${id}`, webhookCreated(id, url, own))
    const scope = { type: 'project', entity: own.team, project: `p-${webhook}` }
    await log.append(`automation-${id}`, automationCreated(id, id, { ...own, scope }))
  }
const dispatcher = await log.start()
await dispatcher.caughtUp

let written = 0
/** One event after another goes to the next of the projects, each of which has one automation. */
const writeEvents = async (count: number): Promise<void> => {
  const team = written % TEAMS
  const project = Math.floor(written / TEAMS) % WEBHOOKS_OF_A_TEAM
  written += 1
  const project_id = `team-${team}/p-${project}`
  const event = aliasAdded('production', { team: `team-${team}`, project_id })
  await log.append(`artifact-${project_id}/model`, ...Array.from({ length: count }, () => event))
}

const deliveriesPerSecond = async (): Promise<number> => {
  const stopping = new AbortController()
  const { seen, watched } = await watchDeliveries(eventStore, stopping.signal)
  let events = 0
  const began = performance.now()
  while (performance.now() - began < SECONDS * 1000) {
    if (events - seen.ended < BACKLOG) {
      await writeEvents(EVENTS_AT_ONCE)
      events += EVENTS_AT_ONCE
    } else await sleep(5)
  }
  const perSecond = (seen.ended * 1000) / (performance.now() - began)
  while (seen.ended < events) await sleep(20)
  stopping.abort()
  await watched
  return perSecond
}

const body = JSON.stringify({ alias: 'production', collection: 'model' })
const postsPerSecond = async (): Promise<number> => {
  const began = performance.now()
  let sent = 0
  const loop = async (host: number): Promise<void> => {
    const url = `http://127.0.0.${host}:${port}/hook`
    while (performance.now() - began < SECONDS * 1000) {
      await got.post(url, { headers: { 'content-type': 'application/json' }, body, retry: { limit: 0 } })
      sent += 1
    }
  }
  const hosts = TEAMS * WEBHOOKS_OF_A_TEAM
  await Promise.all(Array.from({ length: AT_A_TIME }, (_, index) => loop((index % hosts) + 1)))
  return (sent * 1000) / (performance.now() - began)
}

const ratios: number[] = []
for (let round = 0; round <= ROUNDS; round += 1) {
  const bare = await postsPerSecond()
  const ours = await deliveriesPerSecond()
  console.log(
    `${round === 0 ? 'warm-up' : `round ${round}`}: ${ours.toFixed(0)} deliveries/s; bare got ${bare.toFixed(0)}/s; ratio ${(ours / bare).toFixed(3)}`,
  )
  if (round > 0) ratios.push(ours / bare)
}
ratio('deliveries ÷ bare got loop', median(ratios), '>= 0.4', median(ratios) >= 0.4, `median of ${ROUNDS}`)

const stopping = new AbortController()
const { seen, watched } = await watchDeliveries(eventStore, stopping.signal)
const began = performance.now()
for (let event = 0; event < EVENTS_PER_SECOND * SECONDS; event += 1) {
  const early = began + (event * 1000) / EVENTS_PER_SECOND - performance.now()
  if (early > 0) await sleep(early)
  void writeEvents(1)
}
while (seen.ended < EVENTS_PER_SECOND * SECONDS) await sleep(20)
stopping.abort()
await watched
const waited = [...seen.waited].sort((a, b) => a - b)
const p99 = waited[Math.floor(waited.length * 0.99)]!
ratio(
  'event → first attempt at 200 events/s, p99 in ms',
  p99,
  '< 250',
  p99 < 250,
  `p50 ${median(waited)} ms, ${waited.length} deliveries`,
)
await log.stop()
await Promise.all([receivers.stop(), rm(directory, { recursive: true, force: true })])
