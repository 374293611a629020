import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openEventStoreDb } from '../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import { callStream } from '../../../src/domain/calls/call.js'
import { randomNumbers } from '../../../src/engine/random.js'
import { COUNTS } from '../../counts.js'
import {
  describeWithClickHouseServer,
  startClickHouseServer,
  type ClickHouseServer,
} from '../../support/clickhouse-server.js'
import type { Answered } from '../../support/client.js'
import { startChildDouble, type ChildDouble } from '../../support/eventstoredb-protocol-double/child.js'
import { answers } from '../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { until } from '../../support/until.js'

const ROLES = ['projector', 'api', 'api', 'dispatcher'] as const
const FAULTS = ['is killed', 'is frozen'] as const
/** One call of this many failed, and has a webhook. */
const FAILED = 5
const REQUEST_MS = 30_000
const KEY = 'administrator-key-of-the-tests'

interface Program {
  readonly name: string
  readonly freeze: () => void
  readonly thaw: () => void
  readonly kill: () => Promise<unknown>
  readonly restart: () => Promise<void>
}

describeWithClickHouseServer('the programs of an installation, in random rounds', () => {
  const seed = COUNTS.serverFaultsSeed
  const random = randomNumbers(seed)
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
  const oneOf = <A>(all: readonly A[]): A => all[between(0, all.length - 1)]!

  let directory: string
  let double: ChildDouble
  let clickHouse: ClickHouseServer
  let receiver: Receiver
  const services: RunningService[] = []
  let programs: readonly Program[]
  const apis = () => services.slice(1, 3)

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-rounds-'))
    double = await startChildDouble(join(directory, 'double.log'))
    clickHouse = await startClickHouseServer()
    receiver = await startReceiver(answers(200))
    const environment = {
      TALLYTREE_DATA_DIR: join(directory, 'shared'),
      TALLYTREE_BOOTSTRAP_API_KEY: KEY,
      TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      EVENTSTORE_URL: double.url,
      CLICKHOUSE_URL: `${clickHouse.url}/rounds`,
    }
    const starting = ROLES.map((role) => startRunningService({ ...environment, TALLYTREE_ROLES: role }))
    services.push(...(await Promise.all(starting)))
    const serverOf = (name: string, server: Omit<Program, 'name'>): Program => ({ name, ...server })
    programs = [
      serverOf('EventStoreDB', double),
      serverOf('ClickHouse', { ...clickHouse, kill: clickHouse.stop }),
      ...services.map((service, place) => ({
        name: `${ROLES[place]!} ${place}`,
        freeze: () => void process.kill(service.pid, 'SIGSTOP'),
        thaw: () => void process.kill(service.pid, 'SIGCONT'),
        kill: () => service.kill('SIGKILL'),
        restart: () => service.restart(),
      })),
    ]
    const { status, text } = await accepted('POST', '/api/teams', { name: 'rounds' })
    assert.equal(status, 200, text)
    await accepted('POST', '/api/teams/rounds/webhooks', {
      name: 'hook',
      url: receiver.url,
      retry_waits_s: Array.from({ length: 32 }, () => 0.2),
    })
  })
  after(async () => {
    for (const service of services) await service.remove()
    await double.kill()
    await clickHouse.stop()
    await receiver.stop()
    await rm(directory, { recursive: true, force: true })
  })

  /** Sends it to one process or the other until one accepts it, as a client behind a load balancer. */
  const accepted = async (method: string, path: string, body?: object): Promise<Answered> => {
    for (;;) {
      const signal = AbortSignal.timeout(REQUEST_MS)
      const answer = await oneOf(apis())
        .send(method, path, body, { signal })
        .catch(() => undefined)
      if (answer?.status === 200) return answer
      if (answer !== undefined) assert.equal(answer.status, 503, answer.text)
      await sleep(200)
    }
  }

  const writeBatches = async (project: string, isOver: () => boolean): Promise<readonly string[]> => {
    const ids: string[] = []
    const client = async () => {
      while (!isOver()) {
        const batch = Array.from({ length: between(20, 150) }, () => {
          const id = `call-${ids.length}`
          const isFailed = ids.push(id) % FAILED === 0
          return {
            project_id: project,
            id,
            trace_id: id,
            op_name: 'op',
            started_at: '2026-01-01T00:00:00Z',
            ended_at: '2026-01-01T00:00:01Z',
            attributes: {},
            inputs: { text: 'x'.repeat(200) },
            summary: { usage: { small: { requests: 1, prompt_tokens: 5 } } },
            ...(isFailed ? { exception: 'Error: no' } : {}),
          }
        })
        await accepted('POST', `/v2/${project}/calls/complete`, { batch })
      }
    }
    await Promise.all(Array.from({ length: between(2, 8) }, client))
    return ids
  }

  const strike = async (program: Program, fault: (typeof FAULTS)[number], forMs: number) => {
    if (fault === 'is frozen') {
      program.freeze()
      await sleep(forMs)
      program.thaw()
    } else {
      await program.kill()
      await sleep(forMs / 4)
      await program.restart()
    }
  }

  const assertReadOnce = async (project: string, ids: readonly string[]) => {
    const body = { project_id: project }
    const lines = async () => {
      const { text } = await accepted('POST', '/calls/stream_query', { ...body, columns: ['id'] })
      return text.split('\n').filter((line) => line !== '')
    }
    await until(async () => (await lines()).length >= ids.length)
    const read = (await lines()).map((line) => (JSON.parse(line) as { id: string }).id)
    assert.deepEqual(read.toSorted(), ids.toSorted())
    const usage = (await accepted('POST', '/trace/usage', { ...body, limit: 100_000 })).json<{
      call_usage: Record<string, { small: { prompt_tokens: number } }>
    }>()
    const tokens = Object.values(usage.call_usage).map(({ small }) => small.prompt_tokens)
    assert.deepEqual(
      [tokens.length, tokens.reduce((sum, each) => sum + each, 0)],
      [ids.length, ids.length * 5],
    )
  }

  const assertStoredOnce = async (project: string, ids: readonly string[]) => {
    const store = await openEventStoreDb(double.url)
    const stored = new Map<string, string[]>()
    for await (const { stream, type } of store.readAll())
      stored.set(stream, [...(stored.get(stream) ?? []), type])
    await store.close()
    for (const id of ids)
      assert.deepEqual(stored.get(callStream(project, id)), ['CallStarted', 'CallEnded'], id)
  }

  /** Each failed call has one message; only one whose first outcome is unknown comes again, and is marked. */
  const assertSentOnce = async (project: string, ids: readonly string[]): Promise<number> => {
    const expected = ids.filter((_, index) => (index + 1) % FAILED === 0)
    const arrived = () =>
      receiver.received
        .map(({ headers, body }) => ({
          headers,
          ...(JSON.parse(String(body)) as { project: string; id: string }),
        }))
        .filter((message) => message.project === project)
    await until(() => new Set(arrived().map(({ id }) => id)).size >= expected.length)
    // What comes twice comes soon.
    await sleep(1000)
    const first = new Map<string, string>()
    let repeats = 0
    for (const { id, headers } of arrived()) {
      const delivery = headers['webhook-id']!
      const known = first.get(id)
      if (known !== undefined) {
        assert.equal(known, delivery, `${id} has two deliveries`)
        assert.equal(headers['x-vendor-possible-duplicate'], 'true', `${id} came twice without a mark`)
        repeats += 1
      }
      first.set(id, delivery)
    }
    assert.deepEqual([...first.keys()].toSorted(), expected.toSorted())
    return repeats
  }

  const isHealthy = async (service: RunningService) =>
    (await service.send('GET', '/health').catch(() => undefined))?.text === '{"status":"ok"}'

  for (let round = 0; round < COUNTS.serverFaults; round += 1)
    it(`lose and double nothing (round ${round} of seed ${seed})`, async () => {
      const project = `rounds/round-${round}`
      await accepted('POST', '/api/automations', {
        team: 'rounds',
        name: `failed in ${round}`,
        webhook: 'hook',
        payload: `{"project": "${project}", "id": "\${call_id}"}`,
        scope: { type: 'project', project: `round-${round}` },
        event: { type: 'CALL_FAILED' },
      })
      // Each program has each fault in turn, sometimes with another one at the same time.
      const turn = seed + round
      const first = programs[turn % programs.length]!
      const others = programs.filter((program) => program !== first)
      const struck = random() < 0.3 ? [first, oneOf(others)] : [first]
      const faults = struck.map((program, index) => ({
        program,
        fault:
          index === 0 ? FAULTS[(turn + Math.floor(turn / programs.length)) % FAULTS.length]! : oneOf(FAULTS),
        afterMs: between(200, 3000),
        forMs: between(12_000, 15_000),
      }))
      const title = faults.map(({ program, fault }) => `${program.name} ${fault}`).join(', ')
      const pids = services.map(({ pid }) => pid)
      let isOver = false
      const writing = writeBatches(project, () => isOver)
      // Rejects while the faults go on, and is awaited below.
      writing.catch(() => undefined)
      await Promise.all(
        faults.map(async ({ program, fault, afterMs, forMs }) => {
          await sleep(afterMs)
          await strike(program, fault, forMs)
        }),
      )
      await sleep(1000)
      isOver = true
      const ids = await writing

      for (const service of services) await until(() => isHealthy(service))
      await assertReadOnce(project, ids)
      await assertStoredOnce(project, ids)
      const repeats = await assertSentOnce(project, ids)
      services.forEach(({ pid, output }, place) => {
        const isKilled = faults.some(
          ({ program, fault }) => program === programs[place + 2] && fault === 'is killed',
        )
        assert.equal(pid === pids[place], !isKilled)
        assert.doesNotMatch(output(), /process\.crashed/)
        process.kill(pid, 0)
      })
      console.log(`      ${JSON.stringify({ title, calls: ids.length, repeats })}`)
    })
})
