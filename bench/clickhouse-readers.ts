import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startClickHouseServer } from '../test/support/clickhouse-server.js'
import { startService } from './support/child.js'
import { median, ratio } from './support/report.js'

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

/** The status, how long it took in ms, and the body. */
const post = async (key: string, path: string, body: object) => {
  const began = performance.now()
  const response = await fetch(`${service.address}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, ms: performance.now() - began, text }
}
const member = async (team: string): Promise<string> => {
  await post(ADMIN, '/api/teams', { name: team })
  const made = await post(ADMIN, `/api/teams/${team}/members`, { user: `of-${team}`, role: 'member' })
  return (JSON.parse(made.text) as { api_key: string }).api_key
}
const [busy, quiet] = [await member('busy'), await member('quiet')]

let next = 0
const batch = (project_id: string, calls: number) => ({
  batch: Array.from({ length: calls }, () => {
    const id = `c-${next++}`
    const at = '2026-01-01T00:00:00Z'
    const call = { project_id, id, trace_id: id, op_name: 'op', started_at: at, ended_at: at, attributes: {} }
    return { ...call, inputs: { text: 'The quick brown fox. '.repeat(20) }, output: 'a dog', summary: {} }
  }),
})
const list = (key: string, team: string) =>
  post(key, '/calls/query', {
    project_id: `${team}/p`,
    limit: 50,
    sort_by: [{ field: 'started_at', direction: 'desc' }],
  })
while (next < CALLS) await post(busy, '/v2/busy/p/calls/complete', batch('busy/p', 500))
await post(quiet, '/v2/quiet/p/calls/complete', batch('quiet/p', 500))
await sleep(3000)

const observe = async () => {
  const lists: number[] = []
  const health: number[] = []
  for (const until = performance.now() + SECONDS * 1000; performance.now() < until;) {
    await sleep(100)
    lists.push((await list(quiet, 'quiet')).ms)
    const began = performance.now()
    await (await fetch(`${service.address}/health`)).text()
    health.push(performance.now() - began)
  }
  return { list: median(lists), health: Math.max(...health) }
}
const alone = await observe()

const loading = { isOver: false, written: 0, read: 0, refused: 0 }
const repeat = async (task: () => Promise<unknown>) => {
  while (!loading.isOver) await task()
}
const write = async () => {
  const { status } = await post(busy, '/v2/busy/p/calls/complete', batch('busy/p', 100))
  if (status === 200) loading.written += 100
}
const read = async () => {
  const { status } = await list(busy, 'busy')
  loading[status === 200 ? 'read' : 'refused'] += 1
}
const clients = [...Array<typeof write>(16).fill(write), ...Array<typeof read>(32).fill(read)]
const loads = clients.map(repeat)
await sleep(2000)
const beside = await observe()
loading.isOver = true
await Promise.all(loads)
const { written, read: lists, refused: no } = loading
const times = beside.list / alone.list
ratio(
  'list of another team ÷ alone',
  times,
  '<= 2',
  times <= 2,
  `${alone.list.toFixed(0)} and ${beside.list.toFixed(0)} ms; written ${written}, lists ${lists}, refused ${no}`,
)
ratio('/health, slowest in ms', beside.health, '<= 200', beside.health <= 200, '')

await sleep(3000)
const answers = await Promise.all(Array.from({ length: 500 }, () => list(busy, 'busy')))
const refused = answers.filter(({ status }) => status !== 200)
const slowest = Math.max(0, ...refused.map(({ ms }) => ms))
ratio('slowest refusal of 500, ms', slowest, '<= 1000', slowest <= 1000, `${refused.length} refused`)
await service.stop()
await clickHouse.stop()
await rm(directory, { recursive: true, force: true })
process.exit(0)
