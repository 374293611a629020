import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  cpSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { itWhen, itWith } from '../../support/skipping.js'
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

const canMount = process.getuid?.() === 0 && spawnSync('mount', ['--version']).status === 0

describe('a service that starts on a full disk', () => {
  let disk: string
  let other: string
  before(() => {
    disk = mkdtempSync(join(tmpdir(), 'tallytree-full-'))
    other = mkdtempSync(join(tmpdir(), 'tallytree-other-'))
    if (canMount) execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'tmpfs', disk])
  })
  after(() => {
    if (canMount) execFileSync('umount', ['-l', disk])
    for (const directory of [disk, other]) rmSync(directory, { recursive: true, force: true })
  })

  const fill = () => {
    const file = openSync(join(disk, 'filler'), 'a')
    try {
      for (;;) writeSync(file, Buffer.alloc(4096))
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
    } finally {
      closeSync(file)
    }
  }

  itWhen(canMount, 'only root can mount a disk')(
    'reads, says that it cannot write, and writes once there is room',
    async () => {
      const data = join(disk, 'data')
      const service = await startRunningService({ TALLYTREE_DATA_DIR: data })
      const started_at = '2026-01-01T12:00:00Z'
      const write = async (id: string) =>
        (
          await service
            .in(PROJECT)
            .calls.batch([
              {
                start: { id, op_name: 'op', started_at, inputs: { text: randomBytes(MUCH).toString('hex') } },
              },
            ])
        ).status
      const health = async () => (await service.send('GET', '/health')).text
      const published = async () => (await service.send('GET', '/api/events?types=PricePublished')).text
      const withNewPrices = { TALLYTREE_UPSTREAMS_FILE: join(other, 'upstreams.json') }
      const price = { prompt_token_cost: '0.5', completion_token_cost: '3' }
      const models = [{ id: 'newly-priced', upstream_id: 'm', price }]
      const upstreams = [{ name: 'local', base_url: 'https://upstream.example/v1', models }]
      writeFileSync(withNewPrices.TALLYTREE_UPSTREAMS_FILE, JSON.stringify({ upstreams }))
      try {
        assert.equal(await write('before'), 200)
        assert.equal((await service.in(PROJECT).calls.read('before')).op_name, 'op')
        for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
          await service.kill(signal)
          fill()
          await service.restart(withNewPrices)

          assert.match(service.output(), /"prices\.not_published".*the event store failed to write/)
          assert.equal((await service.in(PROJECT).calls.read('before')).op_name, 'op')
          assert.match(await health(), /"status":"unavailable".*"writes":"[^"]*SQLITE_FULL/)
          assert.equal(await write('during'), 503)
        }

        await service.stop()
        cpSync(join(data, 'blobs'), join(other, 'blobs'), { recursive: true })
        rmSync(join(data, 'blobs'), { recursive: true })
        symlinkSync(join(other, 'blobs'), join(data, 'blobs'))
        rmSync(join(disk, 'filler'))
        await service.restart(withNewPrices)
        assert.match(await published(), /newly-priced/)

        // Read models that could not be written are filled again.
        await until(async () => (await health()) === '{"status":"ok"}')
        assert.equal(await write('after'), 200)
        assert.equal((await service.in(PROJECT).calls.read('before')).op_name, 'op')
      } finally {
        await service.remove()
      }
    },
  )
})

interface Used {
  readonly m: { readonly requests: number }
}
