import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild, startService, type Child } from './support/child.js'
import { median, ratio } from './support/report.js'
import { fillTraces, PROJECT, rootOf } from './support/traces.js'

/**
 * How long does `/trace/usage` of a whole trace take, against loading all rows as JSON, rolling up in a Map and
 * stringifying? Both over HTTP, read to the last byte, each in a process of its own over the same tables.
 */

const KEY = 'administrator-key-of-the-bench'
const SIZES = (process.env['SIZES'] ?? '10000,100000,1000000').split(',').map(Number)
const GOALS: Readonly<Record<number, number>> = { 10_000: 1 / 2, 100_000: 1 / 4, 1_000_000: 1 / 5 }

interface Measured {
  readonly ms: number
  readonly bytes: number
}

const measure = async (url: string, init: RequestInit): Promise<Measured> => {
  const begin = performance.now()
  const response = await fetch(url, init)
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  let bytes = 0
  for await (const chunk of response.body!) bytes += (chunk as Uint8Array).length
  return { ms: performance.now() - begin, bytes }
}

const several = async (size: number, child: Child, ask: () => Promise<Measured>) => {
  const times = size >= 1_000_000 ? 3 : 7
  const first = (await ask()).ms
  // The compiler needs some runs before it is at its best, on both sides.
  for (let i = 0; i < (size >= 1_000_000 ? 1 : 8); i += 1) await ask()
  const before = child.memory().now
  child.forgetPeak()
  const measured: Measured[] = []
  for (let i = 0; i < times; i += 1) measured.push(await ask())
  return {
    ms: median(measured.map(({ ms }) => ms)),
    bytes: measured[0]!.bytes,
    first,
    extraMiB: child.memory().peak - before,
  }
}

const usageRequest = (filter: object): RequestInit => ({
  method: 'POST',
  headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
  body: JSON.stringify({ project_id: PROJECT, filter, limit: 1_000_000 }),
})

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
try {
  // The engine may be open in one process at a time: another process makes the tables.
  if (process.argv[2] === 'fill') {
    await fillTraces(process.argv[3]!, SIZES)
    process.exit(0)
  }
  const { execFileSync } = await import('node:child_process')
  execFileSync(process.execPath, ['--import', 'tsx', import.meta.filename, 'fill', directory], {
    stdio: 'inherit',
  })

  const naive = await startChild('bench/support/naive-usage-server.ts', { DATA_DIR: directory })
  const baseline = new Map<number, Awaited<ReturnType<typeof several>>>()
  for (const size of SIZES)
    baseline.set(size, await several(size, naive, () => measure(`${naive.address}/?trace=trace-${size}`, {})))
  await naive.stop()

  const service = await startService({
    TALLYTREE_PORT: '0',
    TALLYTREE_DATA_DIR: directory,
    TALLYTREE_BOOTSTRAP_API_KEY: KEY,
  })
  for (const size of SIZES) {
    const url = `${service.address}/trace/usage`
    const whole = usageRequest({ trace_ids: [`trace-${size}`] })
    const root = usageRequest({ call_ids: [rootOf(size)] })
    const ours = await several(size, service, () => measure(url, whole))
    const rootOnly = await several(size, service, () => measure(url, root))
    const other = baseline.get(size)!
    const details = `${ours.ms.toFixed(0)} ms (asked first ${ours.first.toFixed(0)} ms), ${(ours.bytes / 1e6).toFixed(1)} MB; baseline ${other.ms.toFixed(0)} ms (${other.first.toFixed(0)} ms), ${(other.bytes / 1e6).toFixed(1)} MB`
    const goal = GOALS[size] ?? 1
    ratio(
      `whole trace of ${size}`,
      ours.ms / other.ms,
      `<= ${goal.toFixed(3)}`,
      ours.ms / other.ms <= goal,
      details,
    )
    const memory = ours.extraMiB / other.extraMiB
    ratio(
      `  extra peak memory`,
      memory,
      '<= 0.25 at 1M',
      size < 1_000_000 || memory <= 0.25,
      `${ours.extraMiB.toFixed(0)} MiB; baseline ${other.extraMiB.toFixed(0)} MiB`,
    )
    const part = rootOnly.ms / ours.ms
    ratio(`  root alone by call_ids ÷ whole`, part, '<= 0.2', part <= 0.2, `${rootOnly.ms.toFixed(1)} ms`)
  }
  await service.stop()
} finally {
  await rm(directory, { recursive: true, force: true })
}
