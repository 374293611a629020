import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomNumbers } from '../../../src/engine/random.js'
import { COUNTS } from '../../counts.js'
import {
  describeWithClickHouseServer,
  startClickHouseServer,
  type ClickHouseServer,
} from '../../support/clickhouse-server.js'
import type { Answered } from '../../support/client.js'
import { startChildDouble, type ChildDouble } from '../../support/eventstoredb-protocol-double/child.js'
import {
  assertReadOnce,
  assertSentOnce,
  assertStoredOnce,
  countedCall,
  onFailedCalls,
} from '../../support/faults/once.js'
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
          return countedCall(project, id, 'x'.repeat(200), isFailed)
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

  const isHealthy = async (service: RunningService) =>
    (await service.send('GET', '/health').catch(() => undefined))?.text === '{"status":"ok"}'

  for (let round = 0; round < COUNTS.serverFaults; round += 1)
    it(`lose and double nothing (round ${round} of seed ${seed})`, async () => {
      const project = `rounds/round-${round}`
      await accepted('POST', '/api/automations', {
        ...onFailedCalls(project),
        team: 'rounds',
        webhook: 'hook',
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
      await assertReadOnce(accepted, project, ids)
      await assertStoredOnce(double.url, project, ids)
      const failed = ids.filter((_, index) => (index + 1) % FAILED === 0)
      const repeats = await assertSentOnce(receiver, project, failed)
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
