import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startService } from './support/child.js'
import { median, p99, ratio } from './support/report.js'

/**
 * Does the process survive one member who sends 100 bodies of 20 MB at once, and one whose upstream sends 90 events of 60
 * MiB without their end? How much memory does it take, and how long do small writes of another team wait meanwhile?
 */

const KEY = 'administrator-key-of-the-bench'
const MEMORY_MB = Number(process.env['MEMORY_MB'] ?? 4096)
const BODIES = Number(process.env['BODIES'] ?? 100)
const STREAMS = Number(process.env['STREAMS'] ?? 90)
const READS = Number(process.env['READS'] ?? 32)
const CALLS = Number(process.env['CALLS'] ?? 200_000)
const MIB = 1_048_576
/** The heap, and the embedded engine with the buffers of connections. */
const GOAL_MB = MEMORY_MB + 1024

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: KEY,
  TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8',
  TALLYTREE_MEMORY_MB: String(MEMORY_MB),
})

const post = (key: string, path: string, body: string | Buffer) =>
  fetch(`${service.address}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  })

/** Creates a team and returns the key of its member. */
const keyOf = async (team: string): Promise<string> => {
  await post(KEY, '/api/teams', JSON.stringify({ name: team }))
  const member = JSON.stringify({ user: `user-of-${team}`, role: 'member' })
  const added = await post(KEY, `/api/teams/${team}/members`, member)
  return ((await added.json()) as { api_key: string }).api_key
}

const startOf = (team: string, inputs: object) => ({
  project_id: `${team}/p`,
  op_name: 'answer',
  started_at: new Date().toISOString(),
  attributes: {},
  inputs,
})

/** Calls with lists of small objects, which take the most memory once they are parsed. */
const largeBody = (bytes: number): Buffer => {
  const rows = Array.from({ length: 500 }, (_, n) => ({
    id: n,
    name: `row ${n}`,
    score: n / 7,
    tags: ['a', 'b'],
  }))
  const item = JSON.stringify({ mode: 'start', req: { start: startOf('heavy', { rows }) } })
  return Buffer.from(
    `{"batch":[${Array(Math.ceil(bytes / item.length))
      .fill(item)
      .join(',')}]}`,
  )
}

const status = (asked: Promise<Response>): Promise<string> =>
  asked
    .then(async (response) => {
      await response.arrayBuffer()
      return `${response.status}${response.headers.has('retry-after') ? ' with Retry-After' : ''}`
    })
    .catch((error: unknown) => String(error))

/** The response statuses, with how often each came. */
const counted = async (asked: readonly Promise<Response>[]): Promise<string> => {
  const counts = new Map<string, number>()
  for (const one of await Promise.all(asked.map(status))) counts.set(one, (counts.get(one) ?? 0) + 1)
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(', ')
}

/** Small writes of another team, one every 50 ms, while something runs. */
const beside = async (name: string, run: () => Promise<string>): Promise<void> => {
  service.forgetPeak()
  const waited: number[] = []
  let [isOver, failed] = [false, 0]
  const writing = (async () => {
    while (!isOver) {
      const start = performance.now()
      const body = JSON.stringify({ start: startOf('light', { question: 'small' }) })
      if ((await status(post(light, '/call/start', body))) !== '200') failed += 1
      waited.push(performance.now() - start)
      await sleep(50)
    }
  })()
  const start = performance.now()
  const answered = await run()
  const seconds = (performance.now() - start) / 1000
  isOver = true
  await writing
  const { peak } = service.memory()
  console.log(
    `${name}: ${answered} in ${seconds.toFixed(1)} s; small writes of another team: ${waited.length}, ${failed} failed, ` +
      `p50 ${median(waited).toFixed(1)} ms, p99 ${p99(waited).toFixed(1)} ms`,
  )
  ratio(`peak memory in MiB, ${name}`, peak, `<= ${GOAL_MB}`, peak <= GOAL_MB, `heap limit ${MEMORY_MB} MiB`)
}

const [heavy, light] = [await keyOf('heavy'), await keyOf('light')]

await beside('alone', () => sleep(3000, 'nothing'))

const body = largeBody(20_000_000)
await beside(`${BODIES} bodies of 20 MB`, () =>
  counted(Array.from({ length: BODIES }, () => post(heavy, '/call/upsert_batch', body))),
)

const unfinished = Buffer.alloc(MIB, 'x')
const upstream = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write('data: ')
  void (async () => {
    for (let mib = 0; mib < 60 && !response.destroyed; mib += 1)
      await new Promise<void>((resolve) => {
        response.once('close', resolve)
        response.write(unfinished, () => {
          response.off('close', resolve)
          resolve()
        })
      })
    await sleep(20_000)
    response.destroy()
  })()
})
await once(upstream.listen(0, '127.0.0.1'), 'listening')
const { port } = upstream.address() as AddressInfo
await post(
  KEY,
  '/api/inference/upstreams',
  JSON.stringify({
    name: 'endless',
    base_url: `http://127.0.0.1:${port}/v1`,
    models: [{ id: 'acme/endless', upstream_id: 'm' }],
  }),
)
const completion = JSON.stringify({
  model: 'acme/endless',
  stream: true,
  messages: [{ role: 'user', content: 'Go on.' }],
})
await beside(`${STREAMS} streams of 60 MiB without an end of line`, () =>
  counted(Array.from({ length: STREAMS }, () => post(heavy, '/v1/chat/completions', completion))),
)

/** Writes calls that ended, each with usage of its own. */
const writeCalls = async (): Promise<void> => {
  const at = new Date().toISOString()
  const usage = { 'gpt-4o': { requests: 1, prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } }
  for (let call = 0; call < CALLS; call += 1000) {
    const batch = Array.from({ length: 1000 }, () => {
      const id = randomUUID()
      return {
        ...startOf('heavy', {}),
        project_id: 'heavy/usage',
        id,
        trace_id: id,
        ended_at: at,
        summary: { usage },
      }
    })
    const written = await post(heavy, '/v2/heavy/usage/calls/complete', JSON.stringify({ batch }))
    if (!written.ok) throw new Error(await written.text())
  }
}

await writeCalls()
const question = JSON.stringify({ project_id: 'heavy/usage', limit: 1_000_000 })
await beside(`${READS} × usage of ${CALLS} calls`, () =>
  counted(Array.from({ length: READS }, () => post(heavy, '/trace/usage', question))),
)

upstream.closeAllConnections()
upstream.close()
await service.stop()
await rm(directory, { recursive: true, force: true })
