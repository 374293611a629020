import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Json } from '../../src/domain/json/json.js'
import { judgeBy } from '../support/described/answers.js'
import { operationsOf, type Description } from '../support/described/description.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../support/service.js'
import { shown, type Ask } from './ask.js'
import { arbitraryAsk } from './asks.js'
import { faultOf } from './check.js'
import { Memory } from './memory.js'
import { openConnections } from './send.js'

const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 10_000)
const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31)
const AT_ONCE = 16
const MOST_FAULTS = 20

const PROJECTS = ['alpha/one', 'alpha/two', 'beta/one']
const INSIDER = 'fuzz-insider'
const OUTSIDER = 'fuzz-outsider'

describe(`${REQUESTS} requests made from the description of the API`, function () {
  this.timeout(Math.max(120_000, REQUESTS * 30))
  let service: TestService
  before(async () => (service = await startTestService()))
  after(() => service.stop())

  /** Teams, two users beside the administrator, and what must not be learnt about them. */
  const settle = async () => {
    const member = async (team: string, user: string) => {
      await service.post('/api/teams', { name: team })
      const body = { user, role: 'team_administrator' }
      return (await service.post(`/api/teams/${team}/members`, body)).json<{ api_key: string }>().api_key
    }
    const keys = [await member('alpha', INSIDER), await member('gamma', OUTSIDER)] as const
    await service.post('/api/teams', { name: 'beta' })
    const secrets = new Set(['admin', INSIDER, OUTSIDER])
    for (const key of [ADMINISTRATOR_KEY, ...keys]) {
      const own = await service.send('GET', '/api/users/me/api-keys', undefined, { key })
      for (const { id } of own.json<{ data: { id: string }[] }>().data) secrets.add(id)
    }
    return { insider: keys[0], outsider: keys[1], secrets }
  }

  it('are answered as it describes, and harm nothing', async () => {
    const description = (await service.send('GET', '/openapi.json')).json<Description>()
    const operations = operationsOf(description)
    const { insider, outsider, secrets } = await settle()
    const memory = new Memory(secrets)
    memory.learn({ project_id: PROJECTS })
    const insiders = [ADMINISTRATOR_KEY, ADMINISTRATOR_KEY, insider]
    const world = { description, operations, known: memory.known, projects: PROJECTS, insiders, outsider }
    const asks = arbitraryAsk(world)
    const connections = openConnections(service.address, AT_ONCE)
    const fault = faultOf(judgeBy(description), JSON.stringify(description))

    const faults: string[] = []
    const answered = new Map(operations.map(({ operationId }) => [operationId, 0]))
    const once = async (ask: Ask) => {
      try {
        const answer = await connections.send(ask)
        const found = fault(ask, answer)
        if (found !== undefined) faults.push(`${found}\n  ${shown(ask)}\n  ${answer.text.slice(0, 500)}`)
        if (answer.status !== 200 || ask.method !== ask.operation.method) return
        const { operationId } = ask.operation
        answered.set(operationId, answered.get(operationId)! + 1)
        memory.learn(ask.said)
        memory.learn({ position: String(answer.headers['tallytree-position'] ?? '') })
        if (answer.text.startsWith('{')) memory.learn(JSON.parse(answer.text.split('\n')[0]!) as Json)
      } catch (error) {
        faults.push(`${String(error)}\n  ${shown(ask)}`)
      }
    }

    let next = 0
    const keepAsking = async () => {
      while (next < REQUESTS && faults.length < MOST_FAULTS) {
        const [ask] = fc.sample(asks, { seed: SEED + next, numRuns: 1 })
        next += 1
        await once(ask!)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, keepAsking))
    connections.close()

    const told = `FUZZ_SEED=${SEED} FUZZ_REQUESTS=${REQUESTS}`
    assert.equal(faults.length, 0, `${told}: after ${next} requests\n${faults.join('\n')}`)
    const seldom = [...answered].filter(([, times]) => times === 0).map(([name]) => name)
    if (REQUESTS >= 5000)
      assert.ok(seldom.length <= operations.length / 4, `${told}: never answered 200: ${seldom.join(', ')}`)
    const troubles = service.logged.filter(({ level }) => level !== 'info')
    assert.deepEqual(troubles, [], told)
    assert.equal((await service.send('GET', '/health')).text, '{"status":"ok"}', told)
  })
})
