import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import { startChild, startService } from './support/child.js'
import { median, p99, ratio } from './support/report.js'

/**
 * Completions with long prompts: throughput against a bare proxy and CPU time per completion by prompt size, the latency
 * of a single client, memory under 32 clients of 100 KB, and the latency of a small client beside requests of 20 MB.
 */

const KEY = 'administrator-key-of-the-bench'
const SECONDS = Number(process.env['SECONDS'] ?? 6)
const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
const LARGE_MB = Number(process.env['LARGE_MB'] ?? 20)
const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` }

/** Words, so that the text compresses and escapes like prose. */
const prose = (bytes: number): string =>
  'What is the "answer" of all?\n'.repeat(Math.ceil(bytes / 29)).slice(0, bytes)
const bodyOf = (bytes: number, model = 'acme/fast'): string =>
  JSON.stringify({ model, messages: [{ role: 'user', content: prose(bytes) }] })

const load = async (url: string, body: string, connections: number, duration = SECONDS) => {
  const result = await autocannon({ url, method: 'POST', connections, duration, headers, body })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} refused, ${result.errors} errors`)
  return { perSecond: result.requests.average, completions: result.requests.total }
}

/** Sends one request after another. Finer than autocannon, which counts whole milliseconds. */
const oneClient = async (url: string, body: string, isOver: (sent: number) => boolean): Promise<number[]> => {
  const times: number[] = []
  while (!isOver(times.length)) {
    const start = performance.now()
    const response = await fetch(url, { method: 'POST', headers, body })
    await response.text()
    if (!response.ok) throw new Error(`status ${response.status}`)
    times.push(performance.now() - start)
  }
  return times
}

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const upstream = await startChild('bench/support/fast-upstream.ts', {})
/** Takes as long as a fast model. */
const slowUpstream = await startChild('bench/support/fast-upstream.ts', { WHOLE_AFTER_MS: '140' })
const proxy = await startChild('bench/support/bare-proxy.ts', { TARGET: upstream.address })
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: KEY,
  TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8',
})
for (const [name, { address }] of Object.entries({ fast: upstream, model: slowUpstream })) {
  const models = [{ id: `acme/${name}`, upstream_id: 'm' }]
  const body = JSON.stringify({ name, base_url: `${address}/v1`, models })
  const made = await fetch(`${service.address}/api/inference/upstreams`, { method: 'POST', headers, body })
  if (!made.ok) throw new Error(await made.text())
}
const path = '/v1/chat/completions'
const [ours, bare] = [`${service.address}${path}`, `${proxy.address}${path}`]
const small = bodyOf(20)

await load(ours, small, 16)
const single = await oneClient(ours, small, (sent) => sent >= 1000)
ratio(
  'one client: p99 ÷ p50',
  p99(single) / median(single),
  '<= 3',
  p99(single) <= 3 * median(single),
  `p50 ${median(single).toFixed(2)} ms, p99 ${p99(single).toFixed(2)} ms`,
)

for (const [name, bytes] of [
  ['20 B', 20],
  ['20 KB', 20_000],
  ['100 KB', 100_000],
] as const) {
  const body = bodyOf(bytes)
  const ratios: number[] = []
  const cpu: number[] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    const proxied = await load(bare, body, 32)
    const before = service.cpuMs()
    const own = await load(ours, body, 32)
    if (round === 0) continue
    ratios.push(own.perSecond / proxied.perSecond)
    cpu.push((service.cpuMs() - before) / own.completions)
    console.log(`${name}: ${own.perSecond.toFixed(0)}/s, bare proxy ${proxied.perSecond.toFixed(0)}/s`)
  }
  console.log(
    `${name}: ÷ bare proxy ${median(ratios).toFixed(3)}; CPU ${median(cpu).toFixed(2)} ms per completion; memory ${service.memory().now.toFixed(0)} MiB`,
  )
  if (bytes === 100_000) {
    ratio('CPU per completion of 100 KB, ms', median(cpu), '<= 4', median(cpu) <= 4, 'all threads')
    const { peak } = service.memory()
    ratio('peak memory, 32 clients of 100 KB, MiB', peak, '<= 600', peak <= 600, '')
  }
}

/** One small completion every 20 ms, whether or not the one before has been answered. */
const steadyClient = async (seconds: number, body: string): Promise<number[]> => {
  const start = performance.now()
  const times: Promise<number>[] = []
  for (let due = 0; due < seconds * 1000; due += 20) {
    await sleep(Math.max(0, start + due - performance.now()))
    times.push(oneClient(ours, body, (sent) => sent > 0).then(() => performance.now() - start - due))
  }
  return Promise.all(times)
}

/** One large completion a second. */
const largeClient = async (seconds: number): Promise<void> => {
  const large = bodyOf(LARGE_MB * 1_000_000)
  const answers: Promise<unknown>[] = []
  for (let sent = 0; sent < seconds; sent += 1) {
    answers.push(oneClient(ours, large, (answered) => answered > 0))
    await sleep(1000)
  }
  await Promise.all(answers)
}

const shown = (times: readonly number[]) =>
  `p50 ${median(times).toFixed(2)} ms, p99 ${p99(times).toFixed(0)} ms`
for (const [name, body] of [
  ['a model that takes 140 ms', bodyOf(20, 'acme/model')],
  ['an upstream that answers at once', small],
] as const) {
  const quiet = await steadyClient(10, body)
  const [beside] = await Promise.all([steadyClient(10, body), largeClient(10)])
  ratio(
    `${name}: p50 beside one request of ${LARGE_MB} MB a second ÷ alone`,
    median(beside) / median(quiet),
    '< 2',
    median(beside) < 2 * median(quiet),
    `alone ${shown(quiet)}; beside ${shown(beside)}`,
  )
}
await Promise.all([proxy.stop(), service.stop()])
await Promise.all([upstream.stop(), slowUpstream.stop()])
await rm(directory, { recursive: true, force: true })
