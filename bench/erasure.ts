import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { PACKING } from '../src/adapters/event-store/sqlite/packer.js'
import { openSqliteEventStore } from '../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { writeCallEvents } from './support/call-events.js'
import { startService } from './support/child.js'
import { p99, ratio } from './support/report.js'

/** How long does it take to erase the content of half of CALLS calls, how much space is given back, and what do other reads notice? */

const KEY = 'administrator-key-of-the-bench'
const CALLS = Number(process.env['CALLS'] ?? 20_000)
const PROJECT = 'bench/rebuild'
const READS_MS = 10_000
const OPS = ['op-0', 'op-1', 'op-2', 'op-3', 'op-4']

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const log = join(directory, 'events.db')
const jsonBytes = await writeCallEvents(log, 2 * CALLS)
await packed(log, 2 * CALLS)
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: KEY,
})

/** As a log is that was written over days: the packer rests no more than needed. */
async function packed(path: string, events: number) {
  for (let upTo = 0; upTo < events - PACKING.newest - PACKING.events;) {
    const store = openSqliteEventStore(path, undefined, { ...PACKING, quietRest: 0 })
    await sleep(2000)
    await store.close()
    const db = new Database(path, { readonly: true })
    upTo = db.prepare<[], number>('SELECT coalesce(max(last), 0) FROM packs').pluck().get()!
    db.close()
  }
}

const ask = async (path: string, body?: object): Promise<unknown> => {
  const answer = await fetch(service.address + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}
const read = () =>
  ask('/calls/query', { project_id: PROJECT, filter: { op_names: ['op-9'] }, limit: 50, include_usage: true })

/** Milliseconds of reads, one after another, until it is time to stop. */
const reads = async (isOver: () => boolean): Promise<readonly number[]> => {
  const times: number[] = []
  while (!isOver()) {
    const begin = performance.now()
    await read()
    times.push(performance.now() - begin)
    await sleep(20)
  }
  return times
}

const bytesOf = (name: string): number =>
  Number(execFileSync('du', ['-sb', join(directory, name)], { encoding: 'utf8' }).split('\t')[0])
const space = () => ({ log: bytesOf('events.db'), tables: bytesOf('clickhouse') })
const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`

/** Waits until the read models have all calls. */
const projected = async () => {
  for (;;) {
    const counted = (await ask('/calls/query_stats', { project_id: PROJECT }).catch(() => undefined)) as
      { count: number } | undefined
    if (counted?.count === CALLS) return
    await sleep(1000)
  }
}

await projected()
const before = space()
const end = performance.now() + READS_MS
const alone = await reads(() => performance.now() > end)

const erasures = `/api/projects/${PROJECT}/erasures`
const begin = performance.now()
const { erasure } = (await ask(erasures, { selection: { filter: { op_names: OPS } }, reason: 'bench' })) as {
  erasure: { id: string }
}
let isFinished = false
const meanwhile = reads(() => isFinished)
for (let state = ''; state !== 'finished';) {
  await sleep(500)
  const now = (await ask(`${erasures}/${erasure.id}`)) as { state: string; calls: number }
  if (now.state !== state)
    console.log(`${((performance.now() - begin) / 1000).toFixed(0)} s: ${now.state}, ${now.calls} calls`)
  state = now.state
}
const seconds = (performance.now() - begin) / 1000
isFinished = true
const beside = p99(await meanwhile) / p99(alone)
const after = space()
const details = `p99 ${p99(alone).toFixed(0)} ms alone, ${CALLS / 2} of ${CALLS} calls in ${seconds.toFixed(0)} s`
ratio('reads beside an erasure ÷ alone, p99', beside, '<= 1.5', beside <= 1.5, details)
for (const part of ['log', 'tables'] as const)
  ratio(
    `bytes of the ${part} after ÷ before`,
    after[part] / before[part],
    '<= 0.7',
    after[part] <= 0.7 * before[part],
    `${mib(before[part])} before, ${mib(after[part])} after; ${mib(jsonBytes)} of JSON were written`,
  )
await service.stop()
await rm(directory, { recursive: true, force: true })
