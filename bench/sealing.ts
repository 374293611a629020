import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { openSqliteEventStore } from '../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { openSqliteLogTree } from '../src/adapters/log-tree/sqlite-log-tree.js'
import { makeLogKeys, readLogKeys } from '../src/adapters/secrets/log-keys.js'
import { systemClock, systemIds } from '../src/adapters/system/system.js'
import { startSealing } from '../src/application/audit/sealing.js'
import type { EventStore } from '../src/kernel/ports/event-store.js'
import { noHealthReports } from '../src/kernel/ports/health.js'
import { startService } from './support/child.js'
import { median, ratio } from './support/report.js'

/** How fast is a log sealed that was not, and how many `/call/start` a second are left while the log is sealed? */

const KEY = 'administrator-key-of-the-bench'
const EVENTS = Number(process.env['EVENTS'] ?? 200_000)
const SECONDS = Number(process.env['SECONDS'] ?? 8)
const ROUNDS = Number(process.env['ROUNDS'] ?? 5)

const write = async (store: EventStore): Promise<void> => {
  const metadata = { correlationId: 'bench', causationId: 'bench', actor: 'bench', schemaVersion: 1 }
  const data = { project_id: 'bench/sealing', text: 'x'.repeat(900) }
  let left = EVENTS
  const writer = async () => {
    for (; left > 0; left -= 1) {
      const event = { id: systemIds.next(), type: 'CallStarted', data, metadata }
      await store.append(`call-bench/sealing/${systemIds.next()}`, 'none', [event])
    }
  }
  await Promise.all(Array.from({ length: 256 }, writer))
}

const alone = async (directory: string): Promise<void> => {
  const store = openSqliteEventStore(join(directory, 'events.db'))
  makeLogKeys(join(directory, 'log-keys'), 'localhost')
  const keys = readLogKeys(join(directory, 'log-keys'))!
  await write(store)
  const [rates, cores]: [number[], number[]] = [[], []]
  for (let round = 0; round < 3; round += 1) {
    const tree = openSqliteLogTree(join(directory, `tree-${round}.db`))
    const [start, cpu] = [performance.now(), process.cpuUsage()]
    const log = { info: () => undefined }
    const ports = { eventStore: store, tree, keys, clock: systemClock, log, health: noHealthReports }
    await (await startSealing(ports)).stop()
    const { user, system } = process.cpuUsage(cpu)
    rates.push((EVENTS * 1000) / (performance.now() - start))
    cores.push((user + system) / EVENTS)
  }
  await store.close()
  const details = `${EVENTS} events of 1 KB, ${median(cores).toFixed(1)} µs of CPU an event`
  ratio('events sealed a second, alone', median(rates), '>= 100000', median(rates) >= 100_000, details)
}

const start = {
  project_id: 'bench/starts',
  op_name: 'weave:///bench/starts/op/answer:abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG',
  trace_id: '0193a000-0000-7000-8000-000000000000',
  started_at: '2026-01-01T00:00:00.123Z',
  attributes: {},
  inputs: { question: 'What is the answer to life, the universe and everything?', temperature: 0.2 },
}

const startsPerSecond = async (address: string): Promise<number> => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` }
  const result = await autocannon({
    url: `${address}/call/start`,
    method: 'POST',
    connections: 64,
    duration: SECONDS,
    headers,
    body: JSON.stringify({ start }),
  })
  if (result.non2xx + result.errors > 0) throw new Error(`${result.non2xx + result.errors} failed`)
  return result.requests.average
}

const whileWriting = async (directories: readonly [string, string]): Promise<void> => {
  // A service whose tree another process has open does not seal.
  const held = openSqliteLogTree(join(directories[1], 'log-tree.db'))
  const services = await Promise.all(
    directories.map((directory) =>
      startService({ TALLYTREE_PORT: '0', TALLYTREE_DATA_DIR: directory, TALLYTREE_BOOTSTRAP_API_KEY: KEY }),
    ),
  )
  const ratios: number[] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    const sealed = await startsPerSecond(services[0]!.address)
    const unsealed = await startsPerSecond(services[1]!.address)
    console.log(`round ${round}: ${sealed.toFixed(0)}/s sealed, ${unsealed.toFixed(0)}/s not`)
    if (round > 0) ratios.push(sealed / unsealed)
  }
  await Promise.all(services.map((service) => service.stop()))
  held.close()
  const middle = median(ratios)
  ratio('/call/start with sealing ÷ without', middle, '>= 0.97', middle >= 0.97, `median of ${ROUNDS}`)
}

const directories = await Promise.all([1, 2, 3].map(() => mkdtemp(join(tmpdir(), 'tallytree-bench-'))))
try {
  await alone(directories[0]!)
  await whileWriting([directories[1]!, directories[2]!])
} finally {
  for (const directory of directories) await rm(directory, { recursive: true, force: true })
}
