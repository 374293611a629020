import { createServer, type AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { startChild, startProgram, startService } from './support/child.js'
import { median, p99 } from './support/report.js'

/**
 * Whole completions per second by the size of the prompt and the number of clients, next to a gateway that records nothing.
 * `STATELESS_GATEWAY` is a directory in which `npm install @portkey-ai/gateway@1.15.2` was run. Without it the bench
 * prints only the figures of this gateway.
 */

const KEY = 'administrator-key-of-the-bench'
const SECONDS = Number(process.env['SECONDS'] ?? 5)
const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
const STATELESS = process.env['STATELESS_GATEWAY']

const bodyOf = (bytes: number): string => {
  const content = 'What is the "answer" of all?\n'.repeat(Math.ceil(bytes / 29)).slice(0, bytes)
  return JSON.stringify({ model: 'acme/fast', messages: [{ role: 'user', content }] })
}

interface Gateway {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

const perSecond = async (
  { url, headers }: Gateway,
  body: string,
  connections: number,
  duration = SECONDS,
) => {
  const result = await autocannon({ url, method: 'POST', connections, duration, headers, body })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} refused, ${result.errors} errors`)
  return result.requests.average
}

const latencies = async ({ url, headers }: Gateway, body: string, requests: number): Promise<number[]> => {
  const times: number[] = []
  while (times.length < requests) {
    const start = performance.now()
    await (await fetch(url, { method: 'POST', headers, body })).text()
    times.push(performance.now() - start)
  }
  return times
}

const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

const startStateless = async (directory: string) => {
  const program = join(directory, 'node_modules/@portkey-ai/gateway/build/start-server.js')
  const port = await freePort()
  return startProgram([program, '--headless', `--port=${port}`], {
    NODE_ENV: 'production',
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
  })
}

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const upstream = await startChild('bench/support/fast-upstream.ts', {})
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: KEY,
  TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8',
})
const stateless = STATELESS === undefined ? undefined : await startStateless(STATELESS)

const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` }
const models = [{ id: 'acme/fast', upstream_id: 'm' }]
const made = await fetch(`${service.address}/api/inference/upstreams`, {
  method: 'POST',
  headers,
  body: JSON.stringify({ name: 'fast', base_url: `${upstream.address}/v1`, models }),
})
if (!made.ok) throw new Error(await made.text())

const path = '/v1/chat/completions'
const gateways: Record<string, Gateway> = { ours: { url: `${service.address}${path}`, headers } }
if (stateless !== undefined)
  gateways['stateless'] = {
    url: `${stateless.address}${path}`,
    headers: {
      ...headers,
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstream.address}/v1`,
    },
  }

const entries = Object.entries(gateways)
for (const [, gateway] of entries) await perSecond(gateway, bodyOf(20), 16)
for (const [size, bytes] of [
  ['20 B', 20],
  ['20 KB', 20_000],
  ['100 KB', 100_000],
] as const) {
  const body = bodyOf(bytes)
  for (const clients of [1, 32]) {
    const rates = new Map<string, number[]>(entries.map(([name]) => [name, []]))
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [name, gateway] of entries) rates.get(name)!.push(await perSecond(gateway, body, clients))
    const shown = [...rates].map(([name, each]) => `${name} ${median(each).toFixed(0)}/s`)
    console.log(`${size}, ${clients} ${clients === 1 ? 'client' : 'clients'}: ${shown.join(', ')}`)
  }
  for (const [name, gateway] of entries) {
    const times = await latencies(gateway, body, 1000)
    const [middle, late] = [median(times), p99(times)]
    console.log(
      `${size}, 1 client: ${name} p50 ${middle.toFixed(2)} ms, p99 ${late.toFixed(2)} ms, ${(late / middle).toFixed(1)} × p50`,
    )
  }
}
const { now, peak } = service.memory()
console.log(`memory ${now.toFixed(0)} MiB, at most ${peak.toFixed(0)} MiB`)
await Promise.all([stateless?.stop(), service.stop()])
await upstream.stop()
await rm(directory, { recursive: true, force: true })
