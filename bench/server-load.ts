import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { openEventStoreDb } from '../src/adapters/event-store/eventstoredb/event-store-db.js'
import { newEvent } from '../src/kernel/event.js'
import { aliasAdded, automationCreated, webhookCreated } from '../test/support/dispatching.js'
import { startChildDouble } from '../test/support/eventstoredb-protocol-double/child.js'
import { startService, type Child } from './support/child.js'
import { median, p99, ratio } from './support/report.js'

/**
 * Over the protocol double at the rates of a real EventStoreDB: does the read side keep up with batches of 500 from
 * CONNECTIONS clients, and are webhooks sent meanwhile? How fast does a service with all roles catch up with such a log?
 */

const KEY = 'administrator-key-of-the-bench'
const SECONDS = process.env['SECONDS'] ?? '20'
const CONNECTIONS = (process.env['CONNECTIONS'] ?? '4,16,32').split(',')
const SERVER = { requestsPerSecond: 4000, eventsPerSecond: 22_000 }
const WEBHOOKS_PER_SECOND = 20

const double = await startChildDouble()
await double.misbehave(SERVER)
const store = await openEventStoreDb(double.url)
const cause = { correlationId: 'bench', causationId: 'bench', actor: 'bench' }
const append = (stream: string, event: ReturnType<typeof aliasAdded>) =>
  store.append(stream, 'none', [newEvent(crypto.randomUUID(), event, cause)])

const sentAt = new Map<string, number>()
const waited: number[] = []
const receiver = createServer((request, response) => {
  void text(request).then((body) => onMessage(body, response))
})
const onMessage = (body: string, response: ServerResponse) => {
  const { collection } = JSON.parse(body) as { collection: string }
  const sent = sentAt.get(collection)
  if (sent !== undefined) waited.push(performance.now() - sent)
  sentAt.delete(collection)
  response.end()
}
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')
const { port } = receiver.address() as AddressInfo
await append('webhook-w', webhookCreated('w', `http://127.0.0.1:${port}/hook`))
await append('automation-a', automationCreated('a', 'w'))

const start = async (): Promise<{ service: Child; directory: string }> => {
  const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
  const service = await startService({
    TALLYTREE_PORT: '0',
    TALLYTREE_DATA_DIR: directory,
    TALLYTREE_BOOTSTRAP_API_KEY: KEY,
    TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    EVENTSTORE_URL: double.url,
  })
  return { service, directory }
}

/** Of the calls, once the position is readable. */
const countAt = async (address: string, position: string): Promise<number> => {
  const response = await fetch(`${address}/calls/query_stats`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${KEY}`,
      'tallytree-min-position': position,
    },
    body: JSON.stringify({ project_id: 'bench/batches' }),
  })
  if (response.status === 503) {
    await response.arrayBuffer()
    await sleep(50)
    return countAt(address, position)
  }
  return ((await response.json()) as { count: number }).count
}

let probes = 0
/** Events that trigger the webhook, until the signal. */
const probe = async (signal: AbortSignal) => {
  const appending: Promise<unknown>[] = []
  while (!signal.aborted) {
    const collection = `model-${probes++}`
    const appended = append(`artifact-default/p/${collection}`, aliasAdded('production', { collection }))
    appending.push(appended.then(() => sentAt.set(collection, performance.now())))
    await sleep(1000 / WEBHOOKS_PER_SECOND)
  }
  await Promise.all(appending)
  const until = performance.now() + 30_000
  while (sentAt.size > 0 && performance.now() < until) await sleep(20)
  for (const at of sentAt.values()) waited.push(performance.now() - at)
  sentAt.clear()
}

execFileSync(process.execPath, ['compile.mjs'])
const beganEmpty = performance.now()
let { service, directory } = await start()
/** What a start takes without events to catch up with. */
const startSeconds = (performance.now() - beganEmpty) / 1000
let expected = 0
for (const connections of CONNECTIONS) {
  const stopping = new AbortController()
  waited.length = 0
  const cpu = service.cpuMs()
  const probing = probe(stopping.signal)
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', 'bench/support/batch-load.ts'],
    { env: { ...process.env, ADDRESS: service.address, KEY, SECONDS, CONNECTIONS: connections } },
  )
  const load = JSON.parse(stdout) as { acknowledged: number; position: string; seconds: number }
  const ended = performance.now()
  stopping.abort()
  const counted = await countAt(service.address, load.position)
  const lag = (performance.now() - ended) / 1000
  await probing
  expected += load.acknowledged
  if (counted !== expected) throw new Error(`${expected} acknowledged, ${counted} there`)
  const rate = (load.acknowledged / load.seconds).toFixed(0)
  const used = ((service.cpuMs() - cpu) / 1000).toFixed(1)
  ratio(
    `${connections} × 500: lag at the end, s`,
    lag,
    '<= 2',
    lag <= 2,
    `${rate} calls/s acknowledged, ${used} s of CPU`,
  )
  const slowest = p99(waited) / 1000
  ratio(
    `${connections} × 500: webhooks, p99 in s`,
    slowest,
    '<= 2',
    slowest <= 2,
    `p50 ${median(waited).toFixed(0)} ms, ${waited.length} sent`,
  )
}
await service.stop()
await rm(directory, { recursive: true, force: true })

const head = await store.head()
let events = 0
for await (const { id } of store.readAll()) events += Number(id !== '')
const began = performance.now()
;({ service, directory } = await start())
await countAt(service.address, String(head))
const seconds = (performance.now() - began) / 1000
const rate = events / (seconds - startSeconds)
ratio(
  'catching up with all roles, events/s without the start',
  rate,
  '>= 12000',
  rate >= 12_000,
  `${events} events in ${seconds.toFixed(1)} s, a start without events takes ${startSeconds.toFixed(1)} s`,
)
await service.stop()
await rm(directory, { recursive: true, force: true })
receiver.close()
await store.close()
await double.kill()
process.exit(0)
