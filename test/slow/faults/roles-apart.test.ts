import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startClickHouseFront, type ClickHouseFront } from '../../support/clickhouse-http-front.js'
import { arbitraryDatabase } from '../../support/engine.js'
import { startChildDouble, type ChildDouble } from '../../support/eventstoredb-protocol-double/child.js'
import { until } from '../../support/until.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'

const PROJECT = 'apart/project'
const ROLES = ['projector', 'api', 'api', 'dispatcher'] as const

/** Programs over two servers, which a protocol double and an HTTP front play. */
describe('the programs of an installation over servers', () => {
  let directory: string
  let front: ClickHouseFront
  let double: ChildDouble
  const running: RunningService[] = []
  const [projector, one, other] = [0, 1, 2].map((place) => () => running[place]!) as [
    () => RunningService,
    () => RunningService,
    () => RunningService,
  ]

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-apart-'))
    front = await startClickHouseFront()
    double = await startChildDouble(join(directory, 'double.log'))
    const environment = {
      TALLYTREE_DATA_DIR: join(directory, 'shared'),
      TALLYTREE_BOOTSTRAP_API_KEY: 'administrator-key-of-the-tests',
      EVENTSTORE_URL: double.url,
      CLICKHOUSE_URL: `${front.url}/${arbitraryDatabase()}`,
    }
    const started = ROLES.map((role) => startRunningService({ ...environment, TALLYTREE_ROLES: role }))
    running.push(...(await Promise.all(started)))
  })
  after(async () => {
    for (const service of running) await service.remove()
    await double.kill()
    await front.stop()
    await rm(directory, { recursive: true, force: true })
  })

  const callOf = (id: string, size = 10) => ({
    project_id: PROJECT,
    id,
    trace_id: 'trace',
    op_name: 'op',
    started_at: '2026-01-01T00:00:00Z',
    ended_at: '2026-01-01T00:00:01Z',
    attributes: {},
    inputs: { text: 'x'.repeat(size) },
    summary: { usage: { small: { requests: 1, prompt_tokens: 5 } } },
  })

  const write = async (service: RunningService, calls: readonly object[]) => {
    for (let tries = 1; ; tries += 1) {
      const answer = await service.post('/v2/apart/project/calls/complete', { batch: calls })
      if (answer.status === 503 && tries < 100) continue
      assert.equal(answer.status, 200, answer.text)
      return answer.headers.get('tallytree-position')!
    }
  }

  /** Asks until it can be read. */
  const read = async (service: RunningService, path: string, body: object, position = '0') => {
    for (let tries = 0; ; tries += 1) {
      const headers = { 'tallytree-min-position': position }
      const answer = await service.post(path, body, { headers })
      if (answer.status === 200) return answer.json()
      assert.ok(answer.status === 503 && tries < 400, `${answer.status}: ${answer.text.slice(0, 300)}`)
      await sleep(250)
    }
  }

  const totalOf = async (service: RunningService, position?: string) => {
    const { call_usage } = await read(service, '/trace/usage', { project_id: PROJECT }, position)
    return Object.keys(call_usage as object).length
  }

  it('are all healthy soon, started at once', async () => {
    for (const service of running)
      await until(async () => (await service.send('GET', '/health')).text === '{"status":"ok"}')
  })

  it('answer with what any of them wrote, large payloads too', async () => {
    await write(one(), [callOf('small')])
    const position = await write(other(), [callOf('large', 400_000)])

    assert.equal(await totalOf(one(), position), 2)
    const { call } = await read(one(), '/call/read', { project_id: PROJECT, id: 'large' }, position)
    assert.equal((call as { inputs: { text: string } }).inputs.text.length, 400_000)
  })

  it('know a key that was made at another of them, soon after', async () => {
    await one().post('/api/teams', { name: 'apart' })
    const added = await one().post('/api/teams/apart/members', { user: 'ada', role: 'member' })
    const { api_key: key } = added.json<{ api_key: string }>()
    for (
      let tries = 0;
      (await other().send('GET', '/api/users/me', undefined, { key })).status !== 200;
      tries += 1
    ) {
      assert.ok(tries < 500)
      await sleep(100)
    }
  })

  it('lose and double nothing when the projector is killed while they write', async () => {
    let position = '0'
    for (let round = 0; round < 3; round += 1) {
      const calls = Array.from({ length: 200 }, (_, i) => callOf(`round-${round}-${i}`))
      const writing = write(round % 2 === 0 ? one() : other(), calls)
      await projector().kill('SIGKILL')
      position = await writing
      await projector().restart()
    }
    assert.equal(await totalOf(other(), position), 2 + 600)
  })

  it('end with 0 when they are told to', async () => {
    for (const service of running) assert.equal(await service.stop(), 0)
  })
})
