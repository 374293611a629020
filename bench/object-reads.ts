import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { startChild, startService } from './support/child.js'
import { objectName, OBJECTS, objectValue, PROJECT } from './support/objects.js'
import { median, ratio } from './support/report.js'

/**
 * How many `/obj/read` a second at 16 connections, over 1,000 objects of about 1 KB by their digests, against a bare
 * Koa that reads the same body and answers the same JSON from a Map? The two in turn, several times; the first reads,
 * of which the service remembers none, apart.
 */

const KEY = 'administrator-key-of-the-bench'
const SECONDS = Number(process.env['SECONDS'] ?? 8)
const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const CONNECTIONS = 16
const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` }

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const bare = await startChild('bench/support/object-server.ts', {})
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: KEY,
})

const publish = async (i: number): Promise<string> => {
  const obj = { project_id: PROJECT, object_id: objectName(i), val: objectValue(i) }
  const response = await fetch(`${service.address}/obj/create`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ obj }),
  })
  return ((await response.json()) as { digest: string }).digest
}

const bodies: string[] = []
for (let i = 0; i < OBJECTS; i += 1) {
  const digest = await publish(i)
  bodies.push(JSON.stringify({ project_id: PROJECT, object_id: objectName(i), digest }))
}

const readsPerSecond = async (url: string): Promise<number> => {
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: SECONDS,
    requests: bodies.map((body) => ({ method: 'POST', path: new URL(url).pathname, headers, body })),
  })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} refused, ${result.errors} errors`)
  return result.requests.average
}

const begin = performance.now()
let next = 0
await Promise.all(
  Array.from({ length: CONNECTIONS }, async () => {
    while (next < OBJECTS) {
      const body = bodies[next++]!
      const response = await fetch(`${service.address}/obj/read`, { method: 'POST', headers, body })
      if (response.status !== 200) throw new Error(await response.text())
      await response.text()
    }
  }),
)
const firstReads = OBJECTS / ((performance.now() - begin) / 1000)
const ratios: number[] = []
for (let round = 0; round <= ROUNDS; round += 1) {
  const baseline = await readsPerSecond(`${bare.address}/obj/read`)
  const ours = await readsPerSecond(`${service.address}/obj/read`)
  console.log(
    `${round === 0 ? 'warm-up' : `round ${round}`}: ${ours.toFixed(0)}/s; bare map ${baseline.toFixed(0)}/s; ratio ${(ours / baseline).toFixed(3)}`,
  )
  if (round > 0) ratios.push(ours / baseline)
}
const reached = median(ratios)
const details = `median of ${ROUNDS}; first reads ${firstReads.toFixed(0)}/s; memory ${service.memory().now.toFixed(0)} MiB`
ratio('/obj/read ÷ bare Koa with a Map', reached, '>= 0.3', reached >= 0.3, details)
await Promise.all([bare.stop(), service.stop()])
await rm(directory, { recursive: true, force: true })
