import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService, type Child } from './support/child.js'
import { bodyShapes, routesOf } from '../test/support/large-bodies.js'

/**
 * For how long does one large body keep `/health` of everybody waiting, until the service is idle again? Bodies of
 * each shape and size go to each route in turn. Then: how long does a restart take with these calls at the end of the
 * log, and how fast does SIGTERM stop it right after the start? `ROUTES`, `SHAPES` and `MEGABYTES` select some of them.
 */

const KEY = 'administrator-key-of-the-bench'
const POLL_MS = 5
const GOAL_MS = 100

const selected = (variable: string, all: readonly string[]): readonly string[] =>
  process.env[variable]?.split(',') ?? all

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` }

const send = (url: string, body?: Buffer, via?: Agent): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const sending = request(
      url,
      {
        method: body === undefined ? 'GET' : 'POST',
        headers: { ...headers, ...(body === undefined ? {} : { 'content-length': body.length }) },
        ...(via === undefined ? {} : { agent: via }),
      },
      (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => {
          if (text.length < 200) text += chunk.toString('utf8', 0, 200)
        })
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
        response.once('error', reject)
      },
    )
    sending.once('error', reject)
    sending.end(body)
  })

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Polls `/health` one request at a time; the longest of them until `stop`. */
const watchHealth = (address: string) => {
  let longest = 0
  const watching = new AbortController()
  const ended = (async () => {
    while (!watching.signal.aborted) {
      const begin = performance.now()
      await send(`${address}/health`, undefined, agent)
      longest = Math.max(longest, performance.now() - begin)
      await later(POLL_MS)
    }
  })()
  return async (): Promise<number> => {
    watching.abort()
    await ended
    return longest
  }
}

/** Polling itself takes some of the CPU. */
const IDLE_SHARE = 0.5

const untilIdle = async (service: Child): Promise<void> => {
  const until = performance.now() + 120_000
  for (let idle = 0; idle < 3 && performance.now() < until;) {
    const before = service.cpuMs()
    await later(400)
    idle = service.cpuMs() - before < 400 * IDLE_SHARE ? idle + 1 : 0
  }
}

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const environment = { TALLYTREE_PORT: '0', TALLYTREE_DATA_DIR: directory, TALLYTREE_BOOTSTRAP_API_KEY: KEY }
let service = await startService(environment)
let worst = 0
for (const [route, bodyOf] of Object.entries(routesOf('bench/holds')))
  for (const [shape, valueOf] of Object.entries(bodyShapes))
    for (const megabytes of selected('MEGABYTES', ['1', '5', '20'])) {
      if (!selected('ROUTES', [route]).includes(route) || !selected('SHAPES', [shape]).includes(shape))
        continue
      const body = Buffer.from(bodyOf(valueOf(Number(megabytes) * 1_000_000)))
      const cpu = service.cpuMs()
      const stopWatching = watchHealth(service.address)
      const begin = performance.now()
      const { status, text } = await send(service.address + route.split(' ')[0]!, body)
      const seconds = (performance.now() - begin) / 1000
      await untilIdle(service)
      const silence = await stopWatching()
      worst = Math.max(worst, silence)
      const why = status === 200 ? '' : text.slice(0, 110)
      console.log(
        `${silence <= GOAL_MS ? 'met   ' : 'MISSED'}  ${route} ${shape} ${megabytes} MB: silence ${silence.toFixed(0)} ms, ` +
          `answer ${status} after ${seconds.toFixed(2)} s, CPU ${((service.cpuMs() - cpu) / 1000).toFixed(1)} s, ` +
          `peak ${service.memory().peak.toFixed(0)} MiB ${why}`,
      )
      service.forgetPeak()
    }
console.log(`longest silence ${worst.toFixed(0)} ms (goal ${GOAL_MS})`)

/** Starts on what was written, and says how long it takes until ready, and after SIGTERM right then or when idle. */
const restart = async (what: string, stopsAtOnce: boolean) => {
  const begin = performance.now()
  service = await startService(environment)
  const ready = (performance.now() - begin) / 1000
  const stopWatching = watchHealth(service.address)
  if (!stopsAtOnce) await untilIdle(service)
  const silence = await stopWatching()
  const stopping = performance.now()
  await service.stop()
  const stopped = (performance.now() - stopping) / 1000
  console.log(
    `${what}: ready after ${ready.toFixed(1)} s, silence ${silence.toFixed(0)} ms, stopped ${stopped.toFixed(1)} s after SIGTERM`,
  )
}

await service.stop()
await restart('restart', true)
await rm(join(directory, 'clickhouse'), { recursive: true })
await restart('restart without read models', true)
await restart('restart, filling the read models', false)
await rm(directory, { recursive: true, force: true })
agent.destroy()
