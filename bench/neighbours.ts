import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOADED, LOADS } from '../test/support/faults/loads.js'
import { startChild, startService } from './support/child.js'
import { median, p99, ratio } from './support/report.js'

/**
 * What does a member of another team notice of one team's load? A member of the team `quiet` writes a call and reads a list
 * ten times a second: alone, and while a member of `noisy`, with CALLS=50000 calls, does its worst for SECONDS=10. ONLY names one load.
 */
const CALLS = Number(process.env['CALLS'] ?? 50_000)
const SECONDS = Number(process.env['SECONDS'] ?? 10)
const loads = Object.keys(LOADS).filter((name) => name === (process.env['ONLY'] ?? name))

const ADMIN = 'administrator-key-of-the-bench'
const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const upstream = await startChild('bench/support/fast-upstream.ts', {})
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: ADMIN,
  TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8',
})

const post = async (key: string, path: string, body: object): Promise<unknown> => {
  const response = await fetch(`${service.address}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 200)}`)
  return text === '' ? undefined : JSON.parse(text)
}

const member = async (team: string): Promise<string> => {
  await post(ADMIN, '/api/teams', { name: team })
  const path = `/api/teams/${team}/members`
  const made = (await post(ADMIN, path, { user: `of-${team}`, role: 'member' })) as {
    readonly api_key: string
  }
  return made.api_key
}
const [noisy, quiet] = [await member('noisy'), await member('quiet')]
await post(ADMIN, '/api/inference/upstreams', {
  name: 'fast',
  base_url: `${upstream.address}/v1`,
  models: [{ id: 'acme/fast', upstream_id: 'm' }],
})

let next = 0
const call = (project_id: string, text: string) => {
  const id = `c-${next++}`
  const at = '2026-01-01T00:00:00Z'
  return {
    ...{ project_id, id, trace_id: id, op_name: 'op', started_at: at, ended_at: at, attributes: {} },
    inputs: { text, n: next },
    output: text,
    summary: {},
  }
}
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(20)
while (next < CALLS)
  await post(noisy, '/v2/noisy/p/calls/complete', {
    batch: Array.from({ length: 500 }, () => call(LOADED, TEXT)),
  })

/** Times in ms of the writes and reads of the quiet team. */
const observe = async () => {
  const writes: number[] = []
  const reads: number[] = []
  const failures: string[] = []
  const timed = async (times: number[], task: Promise<unknown>, begin = performance.now()) => {
    await task.catch((error: unknown) => failures.push(String(error)))
    times.push(performance.now() - begin)
  }
  for (const until = performance.now() + SECONDS * 1000; performance.now() < until;) {
    await timed(writes, post(quiet, '/v2/quiet/p/calls/complete', { batch: [call('quiet/p', 'short')] }))
    await timed(reads, post(quiet, '/calls/query', { project_id: 'quiet/p', limit: 10 }))
    await sleep(100)
  }
  return { writes, reads, failures }
}

await sleep(5000)
await observe()
const alone = await observe()
const figures = (times: readonly number[]) =>
  `p50 ${median(times).toFixed(0)}, p99 ${p99(times).toFixed(0)} ms`
console.log(`alone: writes ${figures(alone.writes)}; reads ${figures(alone.reads)}`)
for (const load of loads) {
  service.forgetPeak()
  const loading = await startChild('test/support/faults/load-child.ts', {
    ADDRESS: service.address,
    KEY: noisy,
    LOAD: load,
  })
  await sleep(2000)
  const beside = await observe()
  await loading.kill()
  for (const kind of ['writes', 'reads'] as const) {
    const [before, after] = [alone[kind], beside[kind]]
    const [half, most] = [median(after) / median(before), p99(after) / p99(before)]
    ratio(
      `${kind} beside ${load}, p50`,
      half,
      '<= 2',
      half <= 2,
      `${figures(after)}, ${beside.failures.length} failed${beside.failures[0] ? `: ${beside.failures[0]}` : ''}`,
    )
    ratio(`${kind} beside ${load}, p99`, most, '<= 5', most <= 5, '')
  }
  console.log(`        peak ${service.memory().peak.toFixed(0)} MiB`)
  await sleep(3000)
}

const begin = performance.now()
await service.stop()
console.log(`stopped in ${(performance.now() - begin).toFixed(0)} ms`)
await upstream.stop()
await rm(directory, { recursive: true, force: true })
