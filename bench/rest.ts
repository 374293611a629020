import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PACKING } from '../src/adapters/event-store/sqlite/packer.js'
import { openPackedStore } from '../test/unit/adapters/event-store/packed-store.js'
import { startService } from './support/child.js'
import { ratio } from './support/report.js'
import { writeYearOfCalls } from './support/year-of-calls.js'

/**
 * What does an idle service cost? CPU, wake-ups of all its threads, writes to disk and memory, over SECONDS=20 after
 * SETTLE=15 seconds; on a new data directory, or on DATA_DIR, or with CALLS in the log, then once they are projected and
 * summed up; they are packed before, which takes the service an hour for 2,000,000. THREADS=1 lists the threads that woke up.
 */
const CALLS = Number(process.env['CALLS'] ?? 0)
const SECONDS = Number(process.env['SECONDS'] ?? 20)
const SETTLE = Number(process.env['SETTLE'] ?? 15)

const given = process.env['DATA_DIR']
const directory = given ?? (await mkdtemp(join(tmpdir(), 'tallytree-bench-')))

/** Packs the log without pauses. */
const packAll = async (log: string): Promise<void> => {
  const { db, store } = openPackedStore(log, { ...PACKING, rest: 0, quietRest: 0, idleMs: 1 })
  const last = db.prepare<[], number | null>('SELECT max(last) FROM packs').pluck()
  const progress = () => JSON.stringify([last.get(), db.pragma('freelist_count')])
  for (let before = ''; progress() !== before;) {
    before = progress()
    await sleep(2000)
  }
  await store.close()
}

if (CALLS > 0) {
  const log = join(directory, 'events.db')
  await writeYearOfCalls(log, CALLS, Date.now())
  await packAll(log)
}
const hasCalls = given !== undefined || CALLS > 0
const service = await startService({ TALLYTREE_PORT: '0', TALLYTREE_DATA_DIR: directory })
for (let isBusy = true; isBusy;) {
  const cpuMs = service.cpuMs()
  await sleep(SETTLE * 1000)
  isBusy = hasCalls && service.cpuMs() - cpuMs > SETTLE * 50
}

const before = { cpuMs: service.cpuMs(), threads: service.wakeUps(), written: service.bytesWritten() }
await sleep(SECONDS * 1000)
const cpu = (service.cpuMs() - before.cpuMs) / SECONDS / 10
const threads = [...service.wakeUps()].map(([id, { name, count }]) => ({
  name,
  perSecond: (count - (before.threads.get(id)?.count ?? 0)) / SECONDS,
}))
const written = service.bytesWritten() - before.written
const wakeUps = threads.reduce((sum, { perSecond }) => sum + perSecond, 0)
const memory = service.memory().now

const cpuGoal = hasCalls ? 1 : 0.5
ratio('CPU at rest, % of a core', cpu, `<= ${cpuGoal}`, cpu <= cpuGoal, `over ${SECONDS} s`)
ratio('wake-ups a second', wakeUps, '<= 20', wakeUps <= 20, `${threads.length} threads`)
ratio('bytes written', written, '0', written === 0, `over ${SECONDS} s`)
ratio('resident memory, MiB', memory, '<= 300', memory <= 300, '')
if (process.env['THREADS'] === '1')
  for (const { name, perSecond } of threads.toSorted((a, b) => b.perSecond - a.perSecond).slice(0, 30))
    if (perSecond > 0) console.log(`${perSecond.toFixed(2).padStart(10)}  ${name}`)

await service.stop()
if (given === undefined) await rm(directory, { recursive: true, force: true })
