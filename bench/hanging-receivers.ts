import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteEventStore } from '../src/adapters/event-store/sqlite/sqlite-event-store.js'
import {
  aliasAdded,
  automationCreated,
  startDispatching,
  webhookCreated,
  type Dispatching,
} from '../test/support/dispatching.js'
import { startChild } from './support/child.js'
import { p99, ratio } from './support/report.js'
import { watchDeliveries } from './support/watched-deliveries.js'
import { notingBetween, type InBetween } from './support/work-in-between.js'

/**
 * How much longer does a team wait for its first attempts while 300 webhooks of another team hang and 8 have names that
 * lead nowhere, and all get an event a second? Two dispatchers, one of which has that other team, in turn. Beside the
 * times, which a busy machine and the collector of garbage blur, the last percent above all: how much this process works,
 * and how many deliveries of the other team are scheduled between an event and its attempt.
 */

const SECONDS = Number(process.env['SECONDS'] ?? 4)
const ROUNDS = Number(process.env['ROUNDS'] ?? 20)
const EVENTS_PER_SECOND = 100
const HANGING = 300
const NOWHERE = 8
const GOAL = 1.1

const fast = await startChild('bench/support/fast-receivers.ts', {})
const hanging = await startChild('bench/support/hanging-receivers.ts', {})
const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))

const webhookOf = async (log: Dispatching, team: string, id: string, url: string): Promise<void> => {
  await log.append(`webhook-${id}`, webhookCreated(id, url, { team }))
  const scope = { type: 'project', entity: team, project: 'p' }
  await log.append(`automation-${id}`, automationCreated(id, id, { team, scope }))
}
const write = (log: Dispatching, team: string) =>
  log.append(`artifact-${team}/p/model`, aliasAdded('production', { team, project_id: `${team}/p` }))

const started = async (name: string, besides: (log: Dispatching) => Promise<void>) => {
  const store = openSqliteEventStore(join(directory, `${name}.db`))
  const { eventStore, noted } = notingBetween(store, (stream) => stream === 'artifact-quick/p/model')
  const log = await startDispatching(eventStore)
  await webhookOf(log, 'quick', 'quick', `${fast.address}/hook`)
  await besides(log)
  const { caughtUp } = await log.start()
  await caughtUp
  return { log, noted }
}
type Started = Awaited<ReturnType<typeof started>>
const alone = await started('alone', () => Promise.resolve())
const beside = await started('beside', async (log) => {
  const { port } = new URL(hanging.address)
  for (let n = 0; n < HANGING; n += 1)
    await webhookOf(log, 'slow', `hanging-${n}`, `http://127.1.${n >> 7}.${(n & 127) + 1}:${port}/hook`)
  for (let n = 0; n < NOWHERE; n += 1)
    await webhookOf(log, 'slow', `nowhere-${n}`, `http://nowhere-${n}.invalid/hook`)
})

interface Waits {
  readonly between: readonly InBetween[]
  readonly overtaken: readonly number[]
}

/** What the quick team waited in one phase, with events of the slow one where there is one. */
const phase = async ({ log, noted }: Started, withSlow: boolean): Promise<Waits> => {
  noted.splice(0)
  const stopping = new AbortController()
  const { seen, watched } = await watchDeliveries(log.eventStore, stopping.signal, 'quick')
  const began = performance.now()
  for (let event = 0; event < EVENTS_PER_SECOND * SECONDS; event += 1) {
    const early = began + (event * 1000) / EVENTS_PER_SECOND - performance.now()
    if (early > 0) await sleep(early)
    void write(log, 'quick')
    // In between two of them, as it would be where neither knows of the other.
    if (withSlow && event % EVENTS_PER_SECOND === 0)
      setTimeout(() => void write(log, 'slow'), (Math.random() * 1000) / EVENTS_PER_SECOND)
  }
  while (seen.ended < EVENTS_PER_SECOND * SECONDS) await sleep(20)
  stopping.abort()
  await watched
  return { between: noted.splice(0), overtaken: seen.overtaken }
}

await phase(alone, false)
await phase(beside, true)
const without: Waits[] = []
const withSlow: Waits[] = []
for (let round = 0; round < ROUNDS; round += 1) {
  without.push(await phase(alone, false))
  withSlow.push(await phase(beside, true))
}
const waited = (rounds: readonly Waits[]) => rounds.flatMap(({ between }) => between.map((one) => one.waited))
const workedIn = (rounds: readonly Waits[]) =>
  rounds.flatMap(({ between }) => between.map((one) => one.worked))
const times = p99(waited(withSlow)) / p99(waited(without))
/** The same of as many rounds, drawn anew: how far chance alone moves it. */
const drawn = Array.from({ length: 400 }, () => {
  const rounds = without.map(() => Math.floor(Math.random() * ROUNDS))
  return p99(waited(rounds.map((n) => withSlow[n]!))) / p99(waited(rounds.map((n) => without[n]!)))
}).sort((a, b) => a - b)
const overtaken = withSlow.flatMap((waits) => waits.overtaken)
const shown = (value: number) => value.toFixed(1)
const share = (rounds: readonly Waits[]) => {
  const sorted = waited(rounds).sort((a, b) => a - b)
  return [0.5, 0.9, 0.95, 0.99].map((part) => shown(sorted[Math.ceil(sorted.length * part) - 1]!)).join(', ')
}
ratio(
  `p99 of another team beside ${HANGING} hanging webhooks ÷ without`,
  times,
  `<= ${GOAL}`,
  times <= GOAL,
  `of ${waited(without).length} each: p50, 90, 95, 99 ${share(without)} ms alone, ${share(withSlow)} ms beside; ` +
    `90 % of draws ${drawn[20]!.toFixed(2)} to ${drawn[379]!.toFixed(2)}; ` +
    `work in between: p99 ${shown(p99(workedIn(without)))} ms alone, ${shown(p99(workedIn(withSlow)))} ms beside; ` +
    `scheduled in between: p99 ${p99(overtaken)}, at most ${Math.max(...overtaken)}; ` +
    `load average ${loadavg()[0]!.toFixed(1)}`,
)
for (const { log } of [alone, beside]) await log.stop(0)
await Promise.all([fast.stop(), hanging.stop(), rm(directory, { recursive: true, force: true })])
