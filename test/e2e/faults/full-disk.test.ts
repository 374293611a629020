import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { itWith } from '../../support/skipping.js'
import { until } from '../../support/until.js'

const itWithLimits = itWith('prlimit')
const PROJECT = 'default/full'
const A_LITTLE = 1_000
/** So much goes into a blob. */
const MUCH = 400_000

describe('a service whose files cannot grow', () => {
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  /** Files of the service may have as many bytes, until it is told otherwise. */
  const limitFiles = (bytes: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', String(service.pid), `--fsize=${bytes}:unlimited`])

  const write = (id: string, bytes: number) => {
    const started_at = '2026-01-01T12:00:00Z'
    const inputs = { text: randomBytes(bytes / 2).toString('hex') }
    const end = { id, ended_at: started_at, summary: { usage: { m: { requests: 1 } } } }
    return service.in(PROJECT).calls.batch([{ start: { id, started_at, inputs } }, { end }])
  }

  const usage = async (): Promise<object> => {
    for (;;) {
      const { status, text } = await service.in(PROJECT).usage.ofTraces()
      if (status === 200) return (JSON.parse(text) as { call_usage: object }).call_usage
      assert.equal(status, 503, text)
    }
  }

  const health = async () => {
    const { status, text } = await service.send('GET', '/health')
    return { status, text }
  }

  itWithLimits('refuses writes for now, and has what it took, once each, when they can again', async () => {
    const taken: string[] = []
    for (const [round, limit] of ([300_000, 1_000, 'unlimited'] as const).entries()) {
      limitFiles(limit)
      for (let n = 0; n < 20; n += 1) {
        const id = `call-${round}-${n}`
        const { status, text, headers } = await write(id, n % 2 === 0 ? A_LITTLE : MUCH)
        if (status === 200) taken.push(id)
        else assert.deepEqual([status, headers.get('retry-after')], [503, '1'], text)
      }
      if (limit !== 1_000) continue
      const { status, text } = await health()
      assert.match(text, /^\{"status":"unavailable",.*"writes":"[^"]+\(SQLITE_[A-Z_]+\)"/)
      assert.equal(status, 503)
    }
    const refused = 60 - taken.length
    const healthy = await health()
    const answered = await usage()
    await service.restart()

    assert.doesNotMatch(healthy.text, /writes/)
    assert.equal(healthy.status, 200)
    assert.ok(refused > 0 && taken.length >= 20, `${refused} were refused`)
    assert.deepEqual(Object.keys(answered).sort(), taken.sort())
    assert.deepEqual(await usage(), answered)
    for (const used of Object.values(answered)) assert.equal((used as Used).m.requests, 1)
  })

  itWithLimits('answers /health with 503 while no write can succeed, also when none is tried', async () => {
    const untilHealthIs = (status: number) => until(async () => (await health()).status === status)
    limitFiles(1_000)
    await untilHealthIs(503)

    limitFiles('unlimited')
    await untilHealthIs(200)
  })
})

interface Used {
  readonly m: { readonly requests: number }
}
