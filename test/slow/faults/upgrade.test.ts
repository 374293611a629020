import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { endCall, startCall } from '../../../src/application/calls/record.js'
import { instantOf } from '../../../src/kernel/codec/instant.js'
import { describeWithClickHouseServer, startClickHouseServer } from '../../support/clickhouse-server.js'
import type { ClickHouseServer } from '../../support/clickhouse-server.js'
import { compiled, ROOT } from '../../support/compiled.js'
import { startChildDouble, type ChildDouble } from '../../support/eventstoredb-protocol-double/child.js'
import { keepCalls } from '../../support/eventstoredb-protocol-double/kept-calls.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { goneWithThisProcess } from '../../support/scratch.js'
import { until } from '../../support/until.js'

const PROJECT = 'releases/project'
const BATCH = 100
const FILLED_WITHIN_MS = 3_600_000
/** In the log before the first release starts. */
const CALLS = Number(process.env['TEST_CALLS'] ?? 3000)
/** `dist/src/main.js` of an earlier release, to upgrade from in place of this one. */
const EARLIER = process.env['TEST_EARLIER_MAIN']

/** A user with the grants that the documentation asks for, where the database is `releases`. */
const USER = [
  ...readFileSync(join(ROOT, 'docs/scaling-out.md'), 'utf8').matchAll(/^(GRANT .*) TO tallytree;$/gm),
].map(([, grant]) => `<query>${grant!.replace('tallytree', 'releases')}</query>`)

const callOf = (n: number) => ({
  project_id: PROJECT,
  id: `call-${n}`,
  trace_id: `call-${n}`,
  started_at: instantOf(new Date('2026-01-01T00:00:00Z')),
  ended_at: instantOf(new Date('2026-01-01T00:00:01Z')),
  attributes: {},
  inputs: {},
  summary: { usage: { small: { requests: 1, prompt_tokens: 5 } } },
})

const writesOf = (n: number) => {
  const call = callOf(n)
  return [startCall(call.id, { ...call, op_name: 'op' }), endCall(call)]
}

/** This release with one more column, as the program of another build. */
const releaseWithColumn = async (column: string): Promise<string> => {
  await compiled('main')
  const folder = goneWithThisProcess(join(ROOT, 'dist', `src-${process.pid}-${column}`))
  await cp(join(ROOT, 'dist/src'), folder, { recursive: true })
  const before = 'wb_run_step_end: {'
  let changed = 0
  for (const name of (await readdir(folder)).filter((name) => name.endsWith('.js'))) {
    const text = await readFile(join(folder, name), 'utf8')
    if (!text.includes(before)) continue
    changed += 1
    await writeFile(
      join(folder, name),
      text.replace(before, `${column}: { type: "Nullable(String)", from: "end" }, ${before}`),
    )
  }
  assert.equal(changed, 1)
  return join(folder, 'main.js')
}

const secondsSince = (from: number) => Math.round((performance.now() - from) / 1000)

/** Over a log and a ClickHouse server: a release starts beside another one, and takes over once its tables are filled. */
describeWithClickHouseServer('an upgrade over servers', () => {
  let directory: string
  let clickHouse: ClickHouseServer
  let double: ChildDouble
  let environment: Readonly<Record<string, string>>
  const running: RunningService[] = []
  let serving: RunningService
  let [begun, written] = [0, 0]
  let position = '0'
  let isOver = false
  let loads: readonly Promise<void>[]
  /** `behind` counts reads that named a position which the read models did not reach within the time of a request. */
  const answers = { read: 0, behind: 0, written: 0 }

  const start = async (main?: string) => {
    const service = await startRunningService(environment, main)
    running.push(service)
    return service
  }

  const write = async () => {
    const first = begun
    begun += BATCH
    const batch = Array.from({ length: BATCH }, (_, n) => ({ ...callOf(first + n), op_name: 'op' }))
    const answer = await serving.post('/v2/releases/project/calls/complete', { batch })
    assert.equal(answer.status, 200, answer.text)
    written += BATCH
    position = answer.headers.get('tallytree-position')!
    answers.written += 1
  }

  /** Asks once, unlike the client of the tests. */
  const usageAt = ({ address, key }: RunningService) =>
    fetch(`${address}/usage/query`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json', 'tallytree-min-position': position },
      body: JSON.stringify({ project_id: PROJECT, filter: {} }),
    })

  /** Every call that any of the releases acknowledged is counted, and each once. */
  const read = async () => {
    const least = written
    const answer = await usageAt(serving)
    const text = await answer.text()
    if (answer.status === 503 && text.includes('have not caught up')) {
      answers.behind += 1
      return
    }
    assert.equal(answer.status, 200, text)
    const { totals } = JSON.parse(text) as { totals: { usage: { prompt_tokens?: number } } }
    const tokens = totals.usage.prompt_tokens ?? 0
    assert.ok(tokens >= 5 * least && tokens <= 5 * begun, `${tokens} tokens of ${least} calls: ${text}`)
    answers.read += 1
  }

  const repeat = async (task: () => Promise<void>) => {
    while (!isOver) {
      await task()
      await sleep(20)
    }
  }

  /** Earlier releases that do not say it are ready once they answer a read that includes the last write. */
  const isReady = async (service: RunningService) => {
    const { status } = await service.send('GET', '/health/ready')
    return status === 404 ? (await usageAt(service)).status === 200 : status === 200
  }

  /** Starts a release beside the one that serves, and gives it the requests once it is ready. */
  const upgradeTo = async (main?: string) => {
    const before = serving
    const startedAt = performance.now()
    const next = await start(main)
    await until(() => isReady(next), FILLED_WITHIN_MS)
    console.log(
      `      ${JSON.stringify({ calls: written, secondsUntilReady: secondsSince(startedAt), ...answers })}`,
    )
    serving = next
    await sleep(1000)
    assert.equal(await before.stop(), 0)
    await read()
  }

  const databases = async () =>
    (
      await clickHouse.ask(
        "SELECT DISTINCT database FROM system.tables WHERE name = 'checkpoints' ORDER BY 1",
      )
    )
      .trim()
      .split('\n')

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-upgrade-'))
    const user = `<user><password>hidden</password><profile>default</profile><grants>${USER.join('')}</grants></user>`
    clickHouse = await startClickHouseServer({ users: user })
    await keepCalls(join(directory, 'double.log'), CALLS, writesOf)
    double = await startChildDouble(join(directory, 'double.log'))
    environment = {
      TALLYTREE_DATA_DIR: join(directory, 'shared'),
      TALLYTREE_BOOTSTRAP_API_KEY: 'administrator-key-of-the-tests',
      TALLYTREE_ROLES: 'api,projector',
      EVENTSTORE_URL: double.url,
      CLICKHOUSE_URL: `${clickHouse.url.replace('//', '//user:hidden@')}/releases`,
    }
    serving = await start(EARLIER)
    begun = written = CALLS
    await write()
    const startedAt = performance.now()
    await until(() => isReady(serving), FILLED_WITHIN_MS)
    console.log(`      ${JSON.stringify({ calls: written, secondsUntilProjected: secondsSince(startedAt) })}`)
    loads = [repeat(write), repeat(read)]
    for (const load of loads) load.catch(() => undefined)
  })
  after(async () => {
    for (const service of running) await service.remove()
    await double.kill()
    await clickHouse.stop()
    await rm(directory, { recursive: true, force: true })
  })

  it('refuses no read and no write, and counts every call, with one column more', async () => {
    await upgradeTo(await releaseWithColumn('later'))
    assert.equal((await databases()).length, 2)
  })

  it('goes back to the release before, which has kept its tables', async () => {
    await upgradeTo(EARLIER)
    assert.equal((await databases()).length, 2)
  })

  it('drops the tables of releases before the last one', async () => {
    await upgradeTo(await releaseWithColumn('latest'))
    await until(() => serving.output().includes('projection.former_releases'))
    assert.equal((await databases()).length, 2, serving.output())
    isOver = true
    await Promise.all(loads)
    assert.ok(answers.read > 10 && answers.written > 10)
  })
})
