import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startClickHouseServer } from '../test/support/clickhouse-server.js'
import { startService } from './support/child.js'
import { median, ratio } from './support/report.js'
import { callBatch, listCalls, post, type Client } from './support/team-calls.js'

/**
 * Over a ClickHouse server, 16 clients of one team write batches and 32 read lists, for SECONDS: how long does a list of another
 * team take, and `/health`? Then 500 reads at once: how long do the refused ones take?
 */

const SECONDS = Number(process.env['SECONDS'] ?? 20)
const CALLS = 20_000
const ADMIN = 'administrator-key-of-the-bench'

const clickHouse = await startClickHouseServer()
await clickHouse.ask('CREATE DATABASE bench')
const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: ADMIN,
  CLICKHOUSE_URL: `${clickHouse.url}/bench`,
})

const admin: Client = { address: service.address, key: ADMIN }
const member = async (team: string): Promise<Client> => {
  await post(admin, '/api/teams', { name: team })
  const made = await post(admin, `/api/teams/${team}/members`, { user: `of-${team}`, role: 'member' })
  return { ...admin, key: (JSON.parse(made.text) as { api_key: string }).api_key }
}
const [busy, quiet] = [await member('busy'), await member('quiet')]

for (let calls = 0; calls < CALLS; calls += 500) await callBatch(busy, 'busy', 500)
await callBatch(quiet, 'quiet', 500)
await sleep(3000)

const observe = async () => {
  const lists: number[] = []
  const health: number[] = []
  for (const until = performance.now() + SECONDS * 1000; performance.now() < until;) {
    await sleep(100)
    lists.push((await listCalls(quiet, 'quiet')).ms)
    const began = performance.now()
    await (await fetch(`${service.address}/health`)).text()
    health.push(performance.now() - began)
  }
  return { list: median(lists), health: Math.max(...health), usualHealth: median(health) }
}
const alone = await observe()

const load = fork('bench/support/team-load.ts', [], {
  execArgv: process.execArgv,
  env: { ...process.env, ADDRESS: busy.address, KEY: busy.key, WRITERS: '16', READERS: '32' },
})
await sleep(2000)
const beside = await observe()
load.send('stop')
const [{ written, read, refused: no }] = (await once(load, 'message')) as [
  { readonly written: number; readonly read: number; readonly refused: number },
]
const times = beside.list / alone.list
ratio(
  'list of another team ÷ alone',
  times,
  '<= 2',
  times <= 2,
  `${alone.list.toFixed(0)} and ${beside.list.toFixed(0)} ms; written ${written}, lists ${read}, refused ${no}`,
)
ratio(
  '/health, slowest in ms',
  beside.health,
  '<= 200',
  beside.health <= 200,
  `median ${beside.usualHealth.toFixed(0)}`,
)

await sleep(3000)
const answers = await Promise.all(Array.from({ length: 500 }, () => listCalls(busy, 'busy')))
const refused = answers.filter(({ status }) => status !== 200)
const slowest = Math.max(0, ...refused.map(({ ms }) => ms))
ratio('slowest refusal of 500, ms', slowest, '<= 1000', slowest <= 1000, `${refused.length} refused`)
await service.stop()
await clickHouse.stop()
await rm(directory, { recursive: true, force: true })
process.exit(0)
