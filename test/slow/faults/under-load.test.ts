import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { COUNTS } from '../../counts.js'
import { bundled, ROOT } from '../../support/compiled.js'
import { endWithThisProcess } from '../../support/end-with-this-process.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { saying } from '../../support/upstreams/behaviours.js'
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/upstream.js'
import { until } from '../../support/until.js'
import { COMPLETED, LOADED, LOADS } from '../../support/faults/loads.js'

const QUIET = 'quiet/p'
const WRITERS = 4
/** Each call of the loaded project has as much text. */
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(20)

interface SeenCall {
  readonly id: string
  readonly inputs: { readonly user: string }
  readonly ended_at: string | null
  readonly exception: string | null
}

describe('a service under the load of one team', () => {
  let service: RunningService
  let upstream: ScriptedUpstream
  let keys: { readonly noisy: string; readonly quiet: string }
  /** What was acknowledged, over all loads. */
  const acknowledged = { calls: new Set<string>(), quiet: new Set<string>(), completions: new Set<string>() }

  before(async () => {
    upstream = await startUpstream(saying(Array<string>(20).fill('word '), undefined, { pauseMs: 50 }))
    service = await startRunningService({
      TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8',
      TALLYTREE_STOP_SECONDS: '10',
    })
    const memberOf = async (team: string) => {
      await service.teams.create(team)
      return service.teams.keyOf(team, `of-${team}`, 'member')
    }
    keys = { noisy: await memberOf('noisy'), quiet: await memberOf('quiet') }
    await service
      .post('/api/inference/upstreams', {
        name: 'fast',
        base_url: upstream.baseUrl,
        models: [{ id: 'acme/fast', upstream_id: 'm' }],
      })
      .then(({ status, text }) => assert.equal(status, 200, text))
    for (let from = 0; from < COUNTS.callsUnderLoad; from += 500) {
      const batch = Array.from({ length: 500 }, (_, n) => ({ id: `c-${from + n}`, inputs: { text: TEXT } }))
      const { status, text } = await service.in(LOADED).calls.complete(batch)
      assert.equal(status, 200, text)
      for (const { id } of batch) acknowledged.calls.add(id)
    }
  })
  after(async () => {
    await service.remove()
    await upstream.close()
  })

  /** Runs a load and writers of the other team, and stops the service under them. */
  const stopUnder = async (load: string, stop: () => Promise<unknown>): Promise<void> => {
    const child = spawn(process.execPath, [await bundled('test/support/faults/load-child.ts')], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], ADDRESS: service.address, KEY: keys.noisy, LOAD: load },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    endWithThisProcess(child)
    const writesCalls = load === 'bodies of 20 MB' || load === 'small writes'
    const done = writesCalls ? acknowledged.calls : acknowledged.completions
    const doneBefore = done.size
    child.on('message', (id: string) => done.add(id))

    let isOver = false
    const quiet = service.with({ key: keys.quiet }).in(QUIET)
    const writer = async (_: unknown, at: number) => {
      for (let n = 0; !isOver; n += 1) {
        const id = `${child.pid}-${at}-${n}`
        const answer = await quiet.calls.complete([{ id, inputs: {} }]).catch(() => undefined)
        if (answer?.status === 200) acknowledged.quiet.add(id)
        else await sleep(100)
      }
    }
    const quietBefore = acknowledged.quiet.size
    const writing = Promise.all(Array.from({ length: WRITERS }, writer))
    try {
      await sleep(COUNTS.loadSeconds * 1000)
      await until(() => acknowledged.quiet.size > quietBefore + WRITERS)
      if (writesCalls || load === 'streams') await until(() => done.size > doneBefore)
      await stop()
    } finally {
      isOver = true
      child.kill('SIGKILL')
      await once(child, 'close')
      await writing
    }
  }

  const readCalls = async (project: string, ...columns: readonly (keyof SeenCall)[]) =>
    (await service
      .in(project)
      .calls.stream({ columns: ['id', ...columns] })
      .lines()) as readonly SeenCall[]
  const assertOnce = (seen: readonly string[], done: ReadonlySet<string>) => {
    const once = new Set(seen)
    assert.equal(once.size, seen.length, 'one is there twice')
    assert.deepEqual(
      [...done].filter((id) => !once.has(id)),
      [],
    )
  }

  const assertNothingIsLost = async () => {
    await service.restart()
    const loaded = await readCalls(LOADED)
    assertOnce(
      loaded.map(({ id }) => id),
      acknowledged.calls,
    )
    const quiet = (await readCalls(QUIET, 'ended_at')).filter(({ ended_at }) => ended_at !== null)
    assertOnce(
      quiet.map(({ id }) => id),
      acknowledged.quiet,
    )
    const completions = await readCalls(COMPLETED, 'inputs', 'ended_at', 'exception')
    const whole = completions.filter((call) => call.ended_at !== null && call.exception === null)
    assertOnce(
      whole.map(({ inputs }) => inputs.user),
      acknowledged.completions,
    )
    const counts = [acknowledged.calls, acknowledged.quiet, acknowledged.completions].map(({ size }) => size)
    console.log(`      ${counts.join(', ')} acknowledged calls, calls of the other team and completions`)
  }

  for (const load of Object.keys(LOADS)) {
    it(`loses nothing when it is killed: ${load}`, async () => {
      await stopUnder(load, () => service.kill('SIGKILL'))
      await assertNothingIsLost()
    })

    it(`stops in time and loses nothing: ${load}`, async () => {
      await stopUnder(load, async () =>
        // It would kill itself if it were late.
        assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null }),
      )
      await assertNothingIsLost()
    })
  }
})
