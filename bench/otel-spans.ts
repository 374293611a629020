import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { spansInProtobuf } from '../src/api/otel/protobuf.js'
import { spanWrites } from '../src/application/otel/span-call.js'
import { SpanRefusal } from '../src/domain/otel/span.js'
import { startService } from './support/child.js'
import { ratio } from './support/report.js'
import { spansRequest } from './support/spans-request.js'

/**
 * How many spans of OpenTelemetry of 2.9 KB a second are acknowledged and projected, beside calls with the same content
 * through `/call/upsert_batch`? And how many can be decoded, and turned into calls, by one thread?
 */

const KEY = 'administrator-key-of-the-bench'
const SECONDS = process.env['SECONDS'] ?? '20'

const perSecond = async (run: (body: Buffer) => Promise<number>): Promise<number> => {
  const body = spansRequest(512, 'The quick brown fox jumps over the lazy dog. '.repeat(25))
  let best = 0
  for (let round = 0; round < 12; round += 1) {
    const begin = performance.now()
    const spans = await run(body)
    best = Math.max(best, (spans / (performance.now() - begin)) * 1000)
  }
  return best
}
const decoded = await perSecond(async (body) => (await spansInProtobuf(body)).length)
const mapped = await perSecond(async (body) => {
  const received = await spansInProtobuf(body)
  for (const { span, scope, resource } of received)
    if (!(span instanceof SpanRefusal)) spanWrites('bench/spans', span, scope, resource)
  return received.length
})
ratio('spans/s decoded', decoded, '>= 40000', decoded >= 40_000, `${mapped.toFixed(0)} as calls`)

const rateOf = async (kind: 'spans' | 'calls'): Promise<number> => {
  const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
  const service = await startService({
    TALLYTREE_PORT: '0',
    TALLYTREE_DATA_DIR: directory,
    TALLYTREE_BOOTSTRAP_API_KEY: KEY,
  })
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', 'bench/support/span-load.ts'],
    { env: { ...process.env, ADDRESS: service.address, KEY, SECONDS, CONNECTIONS: '4', KIND: kind } },
  )
  const load = JSON.parse(stdout) as { acknowledged: number; position: string; seconds: number }
  const begin = performance.now()
  const count = async (): Promise<number> => {
    const response = await fetch(`${service.address}/calls/query_stats`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${KEY}`,
        'tallytree-min-position': load.position,
      },
      body: JSON.stringify({ project_id: `bench/${kind}` }),
    })
    return response.status === 503 ? count() : ((await response.json()) as { count: number }).count
  }
  const counted = await count()
  if (counted !== load.acknowledged) throw new Error(`${load.acknowledged} acknowledged, ${counted} there`)
  const seconds = load.seconds + (performance.now() - begin) / 1000
  await service.stop()
  await rm(directory, { recursive: true, force: true })
  return counted / seconds
}

const calls = await rateOf('calls')
const spans = await rateOf('spans')
const share = spans / calls
ratio(
  'spans/s over calls/s, acknowledged and projected',
  share,
  '>= 0.8',
  share >= 0.8,
  `${spans.toFixed(0)} spans, ${calls.toFixed(0)} calls`,
)
