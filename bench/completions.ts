import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { startChild, startService } from './support/child.js'
import { firstChunkMs, openStreams } from './support/completion-streams.js'
import { median, ratio } from './support/report.js'

/**
 * How many completions a second pass, each durable before it is asked and before it is answered, against a bare
 * node:http proxy to the same upstream? How much later than from the upstream itself do answers and first chunks come?
 * And what do 1,000 streams at a time take?
 */

const KEY = 'administrator-key-of-the-bench'
const SECONDS = Number(process.env['SECONDS'] ?? 8)
const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const STREAMS = Number(process.env['STREAMS'] ?? 1000)

const body = JSON.stringify({
  model: 'acme/fast',
  messages: [{ role: 'user', content: 'What is the answer?' }],
})
const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` }

const load = async (url: string, connections: number, duration = SECONDS) => {
  const result = await autocannon({ url, method: 'POST', connections, duration, headers, body })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} refused, ${result.errors} errors`)
  return { perSecond: result.requests.average, p50: result.latency.p50, p99: result.latency.p99 }
}

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const upstream = await startChild('bench/support/fast-upstream.ts', {})
const proxy = await startChild('bench/support/bare-proxy.ts', { TARGET: upstream.address })
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: KEY,
  TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8',
})
const made = await fetch(`${service.address}/api/inference/upstreams`, {
  method: 'POST',
  headers,
  body: JSON.stringify({
    name: 'fast',
    base_url: `${upstream.address}/v1`,
    models: [{ id: 'acme/fast', upstream_id: 'm' }],
  }),
})
if (!made.ok) throw new Error(await made.text())
const path = '/v1/chat/completions'

const ratios: number[] = []
for (let round = 0; round <= ROUNDS; round += 1) {
  const bare = await load(`${proxy.address}${path}`, 64)
  const ours = await load(`${service.address}${path}`, 64)
  console.log(
    `${round === 0 ? 'warm-up' : `round ${round}`}: ${ours.perSecond.toFixed(0)}/s; bare proxy ${bare.perSecond.toFixed(0)}/s; ratio ${(ours.perSecond / bare.perSecond).toFixed(3)}`,
  )
  if (round > 0) ratios.push(ours.perSecond / bare.perSecond)
}
ratio('completions ÷ bare proxy', median(ratios), '>= 0.5', median(ratios) >= 0.5, `median of ${ROUNDS}`)

const direct = await load(`${upstream.address}${path}`, 4)
const through = await load(`${service.address}${path}`, 4)
console.log(
  `added at 4 connections: p50 ${through.p50 - direct.p50} ms, p99 ${through.p99 - direct.p99} ms (direct ${direct.p50} and ${direct.p99} ms)`,
)

const first = async (address: string) => {
  const times: number[] = []
  for (let asked = 0; asked < 100; asked += 1) times.push(await firstChunkMs(`${address}${path}`, headers))
  return median(times)
}
const [firstDirect, firstThrough] = [await first(upstream.address), await first(service.address)]
console.log(
  `first chunk: ${firstThrough.toFixed(2)} ms, from the upstream itself ${firstDirect.toFixed(2)} ms`,
)

const before = service.memory().now
const seen = await openStreams(`${service.address}${path}`, headers, STREAMS, () => service.memory().now)
const half = seen.slice(Math.floor(seen.length / 2))
console.log(
  `${STREAMS} streams at a time: ${before.toFixed(0)} MiB before, ${seen[0]?.toFixed(0)} MiB once all are open, at most ${Math.max(...half).toFixed(0)} MiB in the second half`,
)
await Promise.all([proxy.stop(), service.stop()])
await upstream.stop()
await rm(directory, { recursive: true, force: true })
