import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Json } from '../../../src/kernel/json/json.js'
import { COUNTS } from '../../counts.js'
import { whenReadable } from '../../support/asking-again.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../support/service.js'
import { skip } from '../../support/skipping.js'
import { answersOfAllApis } from '../../support/upstreams/all-apis.js'
import { saying } from '../../support/upstreams/behaviours.js'
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/upstream.js'
import { operationsOf, type Description } from './description.js'
import { givenDeliveries } from './given-deliveries.js'
import { givenUpstream } from './given-inference.js'
import { givenMember, givenState, SECRET } from './given-state.js'
import { judgeBy } from './judge.js'
import { newMemory, type Memory } from './memory.js'
import { HOME } from './places.js'
import { requestsToAll, waitsInVain, type Planned } from './requests.js'
import { newTally, type Tally } from './tally.js'
import { senderTo, written } from './wire.js'

const SEED = COUNTS.fuzzSeed
const REQUESTS = COUNTS.fuzzRequests
const AT_ONCE = 8
const ROUND = 500
const CHUNK = 100
const MORE = 3000

/** With fewer requests, some endpoints are not reached. */
const ENOUGH = 5000

describe(`${REQUESTS} requests made from the API description (FUZZ_SEED=${SEED})`, () => {
  let service: TestService
  let description: Description
  let tally: Tally
  let upstream: ScriptedUpstream
  before(async () => {
    const chat = saying(['Hello'])
    upstream = await startUpstream((body, response, request) =>
      (request.url?.includes('/chat/') === true ? chat : answersOfAllApis)(body, response, request),
    )
    service = await startTestService()
    description = (await service.send('GET', '/openapi.json')).json<Description>()
    tally = newTally()
  })
  after(async () => {
    await service.stop()
    await upstream.close()
  })

  const remember = (memory: Memory, { operation }: Planned, bytes: Buffer) => {
    if (bytes.length < 100_000) memory.remember(operation.area, JSON.parse(bytes.toString()) as Json)
  }

  it('are all answered as it says', async () => {
    const operations = operationsOf(description)
    const areas = new Map(operations.map(({ template, area }) => [template, area]))
    const areaOf = (path: string) => areas.get(path.replace(`/v2/${HOME}/`, '/v2/{entity}/{project}/')) ?? ''
    // the first write of the administrator makes the team that the member is of
    await service.teams.create('home')
    const member = await givenMember(service)
    const memory = newMemory(new Set(['admin', 'member', ...member.ids]))
    memory.remember('access', { api_key: member.key })
    const keys = { administrator: ADMINISTRATOR_KEY, member: member.key, bad: 'not-a-key' }
    const judge = judgeBy(description, SECRET)
    const { send, close } = senderTo(service.address, AT_ONCE)
    const ask = async (planned: Planned) => {
      const sent = written(planned, memory, keys)
      try {
        const once = () => send(sent)
        const received = await (waitsInVain(planned)
          ? once()
          : whenReadable(once, ({ bytes }) => bytes.toString()))
        tally.note(sent, received, judge(sent, received))
        const isJson = received.headers['content-type']?.startsWith('application/json;') === true
        if (received.status === 200 && isJson && planned.method !== 'HEAD')
          remember(memory, planned, received.bytes)
      } catch (error) {
        tally.note(sent, undefined, [String(error)])
      }
    }

    const askAll = async (requests: fc.Arbitrary<Planned>, from: number, to: number) => {
      // again and again, as requests delete what is there
      await givenState(service, areaOf, memory, from)
      await givenDeliveries(service, memory, from)
      await givenUpstream(service, memory, upstream.baseUrl)
      const planned = plannedBy(requests, from, to)
      const worker = async () => {
        for (const one of planned) await ask(one)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, worker))
    }

    const requests = requestsToAll(operations, description)
    for (let asked = 0; asked < REQUESTS; asked += ROUND)
      await askAll(requests, asked, Math.min(REQUESTS, asked + ROUND))
    // Those that chance passed over get some of their own, until each did what it is there for.
    const isMissed = ({ method, template }: (typeof operations)[number]) =>
      REQUESTS >= ENOUGH && tally.count(`${method} ${template}`, 200) === 0
    let from = REQUESTS
    for (let more = 0; more < MORE && operations.some(isMissed); more += CHUNK)
      for (const missed of operations.filter(isMissed)) {
        await askAll(requestsToAll([missed], description), from, from + CHUNK)
        from += CHUNK
      }
    close()
    if (process.env['FUZZ_TELL'] !== undefined) console.log(tally.table())
    assert.equal(tally.problems().length, 0, `\n${tally.problems().slice(0, 60).join('\n')}`)
  })

  it('reach every endpoint, so that it does what it is there for', function () {
    if (REQUESTS < ENOUGH) skip(this, `${REQUESTS} requests are too few to reach every endpoint`)
    const names = operationsOf(description).map(({ method, template }) => `${method} ${template}`)
    assert.deepEqual(
      names.filter((name) => tally.count(name, 200) === 0),
      [],
    )
  })

  it('leave nothing behind that the service cannot read, and no fault in its log', async () => {
    const health = await service.send('GET', '/health')
    assert.deepEqual(health.json(), { status: 'ok' })
    assert.equal((await service.in(HOME).calls.count()).status, 200)
    // The calls that evaluation rules score have no target.
    const faults = service.logged.filter(
      ({ level, event }) => level !== 'info' && event !== 'evaluation.score_failed',
    )
    assert.deepEqual(faults, [])
  })
})

/** Some of the run's requests, made a chunk at a time. */
function* plannedBy(requests: fc.Arbitrary<Planned>, from: number, to: number): Generator<Planned> {
  for (let made = from; made < to; made += CHUNK)
    yield* fc.sample(requests, { numRuns: Math.min(CHUNK, to - made), seed: SEED + made })
}
