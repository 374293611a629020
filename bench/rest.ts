import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startService } from './support/child.js'
import { ratio } from './support/report.js'

/**
 * What does an idle service cost? CPU, wake-ups of all its threads, writes to disk and memory, over SECONDS=20 after
 * SETTLE=15 seconds; on a new data directory, or on DATA_DIR. THREADS=1 lists the threads that woke up.
 */
const SECONDS = Number(process.env['SECONDS'] ?? 20)
const SETTLE = Number(process.env['SETTLE'] ?? 15)

const given = process.env['DATA_DIR']
const directory = given ?? (await mkdtemp(join(tmpdir(), 'tallytree-bench-')))
const service = await startService({ TALLYTREE_PORT: '0', TALLYTREE_DATA_DIR: directory })
await sleep(SETTLE * 1000)

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

const cpuGoal = given === undefined ? 0.5 : 1
ratio('CPU at rest, % of a core', cpu, `<= ${cpuGoal}`, cpu <= cpuGoal, `over ${SECONDS} s`)
ratio('wake-ups a second', wakeUps, '<= 20', wakeUps <= 20, `${threads.length} threads`)
ratio('bytes written', written, '0', written === 0, `over ${SECONDS} s`)
ratio('resident memory, MiB', memory, '<= 300', memory <= 300, '')
if (process.env['THREADS'] === '1')
  for (const { name, perSecond } of threads.toSorted((a, b) => b.perSecond - a.perSecond).slice(0, 30))
    if (perSecond > 0) console.log(`${perSecond.toFixed(2).padStart(10)}  ${name}`)

await service.stop()
if (given === undefined) await rm(directory, { recursive: true, force: true })
