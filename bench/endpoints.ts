import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { startChild, startService } from './support/child.js'
import { median, ratio } from './support/report.js'

/**
 * Do responses and messages pass as fast as chat completions of the same size, beside a bare node:http proxy to the same
 * upstream? For requests of some sizes, whole and streamed, from 1 and 32 clients.
 */

const KEY = 'administrator-key-of-the-bench'
const SECONDS = Number(process.env['SECONDS'] ?? 3)
const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` }

const PATHS = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' } as const
type Api = keyof typeof PATHS

const bodyOf = (api: Api, bytes: number, stream: boolean): string => {
  const content = 'word '.repeat(Math.ceil(bytes / 5))
  const prompt = [{ role: 'user', content }]
  return JSON.stringify({
    model: 'acme/fast',
    ...(api === 'responses' ? { input: prompt } : { messages: prompt }),
    ...(api === 'messages' ? { max_tokens: 100 } : {}),
    ...(stream ? { stream: true } : {}),
  })
}

const load = async (address: string, api: Api, body: string, connections: number) => {
  const url = `${address}${PATHS[api]}`
  const result = await autocannon({ url, method: 'POST', connections, duration: SECONDS, headers, body })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${api}: ${result.non2xx} refused, ${result.errors} errors`)
  return { perSecond: result.requests.average, p99: result.latency.p99 }
}

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const upstream = await startChild('bench/support/endpoint-upstream.ts', {})
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
    apis: ['chat', 'responses', 'messages'],
    models: [{ id: 'acme/fast', upstream_id: 'm' }],
  }),
})
if (!made.ok) throw new Error(await made.text())
for (const api of ['chat', 'responses', 'messages'] as const)
  await load(service.address, api, bodyOf(api, 20, false), 32)

for (const stream of [false, true])
  for (const bytes of [20, 20_000, 100_000])
    for (const connections of [1, 32]) {
      const rates: Record<Api, number[]> = { chat: [], responses: [], messages: [] }
      const slowest: Record<Api, number[]> = { chat: [], responses: [], messages: [] }
      const bare: number[] = []
      for (let round = 0; round < ROUNDS; round += 1) {
        bare.push((await load(proxy.address, 'chat', bodyOf('chat', bytes, stream), connections)).perSecond)
        for (const api of ['chat', 'responses', 'messages'] as const) {
          const { perSecond, p99 } = await load(service.address, api, bodyOf(api, bytes, stream), connections)
          rates[api].push(perSecond)
          slowest[api].push(p99)
        }
      }
      const chat = median(rates.chat)
      for (const api of ['responses', 'messages'] as const) {
        const relative = median(rates[api]) / chat
        ratio(
          `${api} ÷ chat, ${bytes} B, ${connections} clients, ${stream ? 'streamed' : 'whole'}`,
          relative,
          '>= 0.9',
          relative >= 0.9,
          `${median(rates[api]).toFixed(0)} and ${chat.toFixed(0)}/s, bare proxy ${median(bare).toFixed(0)}/s; p99 ${median(slowest[api])} and ${median(slowest.chat)} ms`,
        )
      }
    }
await Promise.all([proxy.stop(), service.stop()])
await upstream.stop()
await rm(directory, { recursive: true, force: true })
