import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startService } from './support/child.js'
import { ratio } from './support/report.js'

/**
 * How many calls a second (start and end) can be acknowledged and projected, sustained, through `/call/upsert_batch` of
 * 500? At the end the last acknowledged position must be readable within a second, and every call must be there. DIRECTORY
 * names a data directory to add the calls to.
 */

const KEY = 'administrator-key-of-the-bench'
const SECONDS = process.env['SECONDS'] ?? '60'

const given = process.env['DIRECTORY']
const directory = given ?? (await mkdtemp(join(tmpdir(), 'tallytree-bench-')))
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: KEY,
})
let position = '0'
const count = async (): Promise<number> => {
  const response = await fetch(`${service.address}/calls/query_stats`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${KEY}`,
      'tallytree-min-position': position,
    },
    body: JSON.stringify({ project_id: 'bench/batches' }),
  })
  return response.status === 503 ? count() : ((await response.json()) as { count: number }).count
}
const before = await count()
const atRest = service.memory().now
const { stdout } = await promisify(execFile)(
  process.execPath,
  ['--import', 'tsx', 'bench/support/batch-load.ts'],
  { env: { ...process.env, ADDRESS: service.address, KEY, SECONDS, CONNECTIONS: '4' } },
)
const load = JSON.parse(stdout) as { acknowledged: number; position: string; seconds: number }
const { acknowledged, seconds } = load
position = load.position

const waiting = performance.now()
const counted = (await count()) - before
const lag = (performance.now() - waiting) / 1000

if (counted !== acknowledged) throw new Error(`${acknowledged} acknowledged, ${counted} there`)
const rate = acknowledged / seconds
ratio(
  'calls/s acknowledged and projected',
  rate,
  '>= 10000',
  rate >= 10_000,
  `${acknowledged} in ${seconds.toFixed(1)} s`,
)
ratio(
  'lag at the end, s, the count included',
  lag,
  '<= 1',
  lag <= 1,
  `memory ${service.memory().now.toFixed(0)} MiB, at rest ${atRest.toFixed(0)} MiB`,
)
await service.stop()
if (given === undefined) await rm(directory, { recursive: true, force: true })
