import assert from 'node:assert/strict'
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOf as wandbClientOf } from '../../api/wandb/given.js'
import { clientOf, type Answered, type SendOptions } from '../../support/client.js'
import { startClickHouseServer, type ClickHouseServer } from '../../support/clickhouse-server.js'
import { startChildDouble, type ChildDouble } from '../../support/eventstoredb-protocol-double/child.js'
import {
  assertReadOnce,
  assertSentOnce,
  assertStoredOnce,
  countedCall,
  onFailedCalls,
} from '../../support/faults/once.js'
import { describeWithHosts, startHosts, type Host, type Hosts } from '../../support/hosts.js'
import { after as answersAfter, answers } from '../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { startS3Double, type S3Double } from '../../support/s3-double.js'
import { until } from '../../support/until.js'

/** While each process is killed. */
const CALLS = Number(process.env['TEST_CALLS'] ?? 5000)
const CUT_OFF_MS = Number(process.env['TEST_CUT_OFF_MS'] ?? 30_000)
const BATCH = 50
const WRITERS = 4
/** One call of this many has a payload for the bucket. */
const LARGE = 200
/** One call of this many failed, and has a webhook. */
const FAILED = 20
const REQUEST_MS = 20_000
const LONG_MS = 300_000
const KEY = 'administrator-key-of-the-tests'
const SECRET = 'a secret that signs'
const ROLES = ['projector', 'api', 'api', 'dispatcher'] as const

interface Placed {
  readonly role: (typeof ROLES)[number]
  readonly host: Host
  readonly service: RunningService
}

/** Each process is on a host of its own, with an empty data directory. The servers and the bucket are on none of them. */
describeWithHosts('an installation whose processes are on hosts of their own', () => {
  let directory: string
  let network: Hosts
  let double: ChildDouble
  let clickHouse: ClickHouseServer
  let bucket: S3Double
  let receiver: Receiver
  let environment: Readonly<Record<string, string>>
  let spare: Host
  const placed: Placed[] = []
  const outputs: (() => string)[] = []

  const start = async (role: Placed['role'], host: Host): Promise<Placed> => {
    const own = { TALLYTREE_ROLES: role, TALLYTREE_HOST: host.address }
    const service = await startRunningService({ ...environment, ...own }, undefined, host.within)
    outputs.push(service.output)
    return { role, host, service }
  }

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-hosts-'))
    network = await startHosts(ROLES.length + 1)
    double = await startChildDouble(join(directory, 'double.log'), network.address)
    clickHouse = await startClickHouseServer({ host: network.address })
    bucket = await startS3Double(undefined, network.address)
    receiver = await startReceiver(answersAfter(20, answers(200)), { address: network.address })
    const keys = join(directory, 'master-keys')
    await writeFile(keys, `one:${randomBytes(32).toString('base64')}\n`, { mode: 0o600 })
    environment = {
      TALLYTREE_BOOTSTRAP_API_KEY: KEY,
      TALLYTREE_API_PROCESSES: '2',
      TALLYTREE_MASTER_KEYS_FILE: keys,
      TALLYTREE_OBJECTS_URL: bucket.url,
      TALLYTREE_WEBHOOK_ALLOW_CIDRS: network.network,
      TALLYTREE_STOP_SECONDS: '10',
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      EVENTSTORE_URL: double.url,
      CLICKHOUSE_URL: `${clickHouse.url}/hosts`,
    }
    placed.push(...(await Promise.all(ROLES.map((role, place) => start(role, network.hosts[place]!)))))
    spare = network.hosts.at(-1)!
    accept(await ask('POST', '/api/teams', { name: 'hosts' }))
    accept(await ask('PUT', '/api/teams/hosts/secrets/SIGNING_KEY', { value: SECRET }))
    const waits = Array.from({ length: 32 }, () => 0.5)
    const hook = { name: 'hook', url: receiver.url, secret: 'SIGNING_KEY', retry_waits_s: waits }
    accept(await ask('POST', '/api/teams/hosts/webhooks', hook))
  })
  after(async () => {
    for (const { service } of placed) await service.remove()
    await receiver.stop()
    await bucket.stop()
    await clickHouse.stop()
    await double.kill()
    network.stop()
    await rm(directory, { recursive: true, force: true })
  })

  const accept = (answer: Answered): Answered => {
    assert.equal(answer.status, 200, answer.text)
    return answer
  }

  /** As a client with a load balancer: to one process or the other, until one does not say that it cannot at present. */
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    options?: SendOptions,
  ): Promise<Answered> => {
    for (;;) {
      const apis = placed.filter(({ role }) => role === 'api')
      const { service } = apis[Math.floor(Math.random() * apis.length)]!
      const signal = AbortSignal.timeout(REQUEST_MS)
      const answer = await service.send(method, path, body, { ...options, signal }).catch(() => undefined)
      if (answer !== undefined && answer.status !== 503) return answer
      await sleep(200)
    }
  }
  const asked = async (method: string, path: string, body?: object) => accept(await ask(method, path, body))

  const textOf = (number: number) =>
    number % LARGE === 0 ? String(number).padStart(10, '-').repeat(30_000) : 'x'.repeat(200)
  const idOf = (number: number) => `call-${number}`
  const isFailed = (number: number) => number % FAILED === 0
  const numbersTo = (count: number) => Array.from({ length: count }, (_, number) => number)

  /** Returns how many calls were acknowledged; `seen` gets their number in between. */
  const write = async (project: string, isOver: (begun: number) => boolean, seen = (_: number) => {}) => {
    let [begun, acknowledged] = [0, 0]
    const writer = async () => {
      while (!isOver(begun)) {
        const batch = Array.from({ length: BATCH }, () => {
          const number = begun++
          return countedCall(project, idOf(number), textOf(number), isFailed(number))
        })
        await asked('POST', `/v2/${project}/calls/complete`, { batch })
        seen((acknowledged += BATCH))
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, writer))
    return acknowledged
  }

  const artifacts: { readonly id: string; readonly content: string }[] = []
  const uploadArtifacts = async (project: string, isOver: () => boolean) => {
    const client = wandbClientOf(clientOf(ask), project)
    while (!isOver()) {
      // Of the larger ones, the digest is known only after they were sent in parts.
      const content = randomBytes(artifacts.length % 5 === 4 ? 4_500_000 : 20_000).toString('hex')
      // A link names the process that made it, which may be killed before it is followed.
      const id = await client.upload('files', { a: content }).catch(() => undefined)
      if (id !== undefined) artifacts.push({ id, content })
      await sleep(500)
    }
  }

  /** By itself: other requests are sent to any of them. */
  const assertServes = async (service: RunningService, project: string, count: number) => {
    const batch = [countedCall(project, idOf(0), textOf(0), isFailed(0))]
    accept(await service.post(`/v2/${project}/calls/complete`, { batch }))
    await until(async () => {
      const { text } = accept(await service.post('/calls/query_stats', { project_id: project }))
      return (JSON.parse(text) as { count: number }).count === count
    }, LONG_MS)
  }

  const assertNothingIsLost = async (project: string, count: number) => {
    const numbers = numbersTo(count)
    const ids = numbers.map(idOf)
    for (const { role, service } of placed) if (role === 'api') await assertServes(service, project, count)
    await assertReadOnce(asked, project, ids)
    await assertStoredOnce(double.url, project, ids)
    for (const number of numbers.filter((number) => number % LARGE === 0)) {
      const { call } = (await asked('POST', '/call/read', { project_id: project, id: idOf(number) })).json()
      assert.equal((call as { inputs: { text: string } }).inputs.text, textOf(number))
    }
    for (const { id, content } of artifacts) {
      const md5 = createHash('md5').update(content).digest('hex')
      const path = `/artifactsV2/default/hosts/files/files/${id.replace(/=+$/, '')}/${md5}/a`
      assert.ok((await asked('GET', path)).text === content, 'the file has other content')
    }
    const repeats = await assertSentOnce(receiver, project, numbers.filter(isFailed).map(idOf))
    for (const { headers, body } of receiver.received) {
      const signed = createHmac('sha256', SECRET).update(body).digest('hex')
      assert.equal(headers['x-vendor-signature'], signed)
    }
    for (const output of outputs) assert.doesNotMatch(output(), /process\.crashed/)
    return repeats
  }

  const untilHealthy = async () => {
    for (const { role, service } of placed) {
      let health: string | undefined
      const isHealthy = async () => {
        health = (await service.send('GET', '/health').catch(() => undefined))?.text
        return health === '{"status":"ok"}'
      }
      await until(isHealthy, LONG_MS).catch(() => assert.fail(`${role}: ${health ?? 'no response'}`))
    }
  }

  it('loses and doubles nothing when each process is killed and started on another host', async () => {
    const project = 'hosts/moved'
    accept(
      await ask('POST', '/api/automations', { ...onFailedCalls(project), team: 'hosts', webhook: 'hook' }),
    )
    let acknowledged = 0
    const writing = write(
      project,
      (begun) => begun >= CALLS,
      (count) => (acknowledged = count),
    )
    writing.catch(() => undefined)
    let isOver = false
    const uploading = uploadArtifacts('hosts/files', () => isOver)
    for (const [place, { role, service, host }] of [...placed.entries()]) {
      await until(() => acknowledged >= (CALLS * (place + 1)) / (ROLES.length + 2), 3_600_000)
      await service.remove()
      placed[place] = await start(role, spare)
      spare = host
    }
    const count = await writing
    isOver = true
    await uploading
    await untilHealthy()
    const repeats = await assertNothingIsLost(project, count)
    assert.ok(artifacts.length > 1)
    console.log(
      `      ${JSON.stringify({ calls: count, artifacts: artifacts.length, sent: receiver.received.length, repeats })}`,
    )
  })

  for (const role of new Set(ROLES))
    it(`loses and doubles nothing when the host of the ${role} is cut off, and another one takes its place`, async () => {
      const project = `hosts/cut-off-${role}`
      await asked('POST', '/api/automations', { ...onFailedCalls(project), team: 'hosts', webhook: 'hook' })
      let isOver = false
      const writing = write(project, () => isOver)
      writing.catch(() => undefined)
      const { host, service } = placed.find((one) => one.role === role)!
      await sleep(1000)
      host.cutOff()
      const cutOff = sleep(CUT_OFF_MS)
      // The first one goes on without knowing of it.
      placed.push(await start(role, spare))
      await cutOff
      host.connect()
      const connectedAt = performance.now()
      await untilHealthy()
      const healthyAfterMs = Math.round(performance.now() - connectedAt)
      isOver = true
      const count = await writing
      const repeats = await assertNothingIsLost(project, count)
      process.kill(service.pid, 0)
      await placed.pop()!.service.remove()
      console.log(`      ${JSON.stringify({ calls: count, healthyAfterMs, repeats })}`)
    })
})
