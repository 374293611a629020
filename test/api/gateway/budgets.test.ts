import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import {
  beginStream,
  chunkOf,
  delta,
  inTurn,
  resetting,
  saying,
  sendEvent,
  usageOf,
} from '../../support/upstreams/behaviours.js'
import { startUpstream, type Behaviour } from '../../support/upstreams/upstream.js'
import { until } from '../../support/until.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { PRICE, startLimitedTeams, type LimitedTeams, type ToldError } from './limited-teams.js'

describe('budgets of completions', () => {
  let teams: LimitedTeams
  let service: LimitedTeams['service']
  let upstream: LimitedTeams['upstream']
  let aTeam: LimitedTeams['aTeam']
  let limit: LimitedTeams['limit']
  let shown: LimitedTeams['shown']
  let complete: LimitedTeams['complete']
  let keyIdOf: LimitedTeams['keyIdOf']

  before(async () => {
    teams = await startLimitedTeams()
    ;({ service, upstream, aTeam, limit, shown, complete, keyIdOf } = teams)
  })
  after(() => teams.stop())

  it('answer 402 that names the sum and the calls behind it', async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'team' }, budget: { amount: 0.16, period: 'month' } })
    // Each may cost 0.126 or so, and costs 0.025.
    const completed = await complete(team)
    assert.equal(completed.status, 200)
    const refused = await complete(team, { max_tokens: 13 })

    assert.equal(refused.status, 402, refused.text)
    assert.match(refused.text, /Lower max_tokens or wait: the next month starts at /)
    assert.equal(refused.headers.get('x-should-retry'), 'false')
    const { error, budget } = refused.json<{
      error: ToldError
      budget: { spent: number; all_calls: { path: string; body: JsonObject } }
    }>()
    assert.equal(error.code, 'insufficient_quota')
    assert.match(error.message, /of 0\.16, 0\.025 is spent/)
    assert.equal(budget.spent, 0.025)
    const list = { ...budget.all_calls.body, project_id: `${team.team}/inference` }
    const listed = await service.post(budget.all_calls.path, list, { key: team.key })
    assert.equal(listed.status, 200, listed.text)
    assert.deepEqual(
      listed.json<{ calls: { id: string }[] }>().calls.map(({ id }) => id),
      [completed.headers.get('tallytree-call-id')],
    )
    assert.equal((await complete(team)).status, 200)
  })

  it('owe nothing where no completion is to be seen, and the greatest report of what was used', async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'team' }, budget: { amount: 0.15, period: 'month' } })
    const raw =
      (type: string, text: string): Behaviour =>
      (_, response) =>
        void response.writeHead(200, { 'content-type': type }).end(text)
    for (const nothing of [
      raw('text/html', '<html></html>'),
      raw('application/json', ''),
      raw('text/event-stream', 'data: [DONE]\n\n'),
    ])
      for (const stream of [true, false])
        for (let round = 0; round < 3; round += 1) {
          upstream.behave(nothing)
          assert.equal((await complete(team, { stream })).status, 502)
        }
    const { spent, reserved, unknown } = (await shown(team))[0]!.used.budget!
    assert.deepEqual([spent, reserved, unknown], [0, 0, 0])
    upstream.behave((body, response) => {
      beginStream(response)
      sendEvent(response, chunkOf('chat', [delta(0, { content: 'Hi' }, 'stop')], usageOf(5, 2)))
      sendEvent(response, chunkOf('chat', [], usageOf(0, 0)))
      response.end('data: [DONE]\n\n')
    })
    assert.equal((await complete(team, { stream: true })).status, 200)
    assert.equal((await shown(team))[0]?.used.budget?.spent, 0.025)
    upstream.behave(saying(['Hi'], usageOf(5, 2)))
  })

  it("charge cached tokens at the prompt's price where the upstream's price states none", async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'team' }, budget: { amount: 1, period: 'month' } })
    const usage = { ...usageOf(100, 2), cache_creation_input_tokens: 30 }
    upstream.behave(saying(['Hi'], { ...usage, prompt_tokens_details: { cached_tokens: 60 } }))
    for (const stream of [false, true]) assert.equal((await complete(team, { stream })).status, 200)
    assert.equal((await shown(team))[0]?.used.budget?.spent, 0.24)
    upstream.behave(saying(['Hi'], usageOf(5, 2)))
  })

  it('for a key name the calls of that key', async () => {
    const [team, project] = [await aTeam(), 'inference']
    const added = await service.post(`/api/teams/${team.team}/members`, {
      user: `other-of-${team.team}`,
      role: 'member',
    })
    const other = { ...team, key: added.json<{ api_key: string }>().api_key }
    const scope = { type: 'key', key: await keyIdOf(other) }
    await limit(team, { scope, budget: { amount: 0.14, period: 'day' } })
    const completed = await complete(other)
    for (const one of [team, team]) assert.equal((await complete(one)).status, 200)
    const refused = await complete(other)
    assert.equal(refused.status, 402)
    const { budget } = refused.json<{ budget: { all_calls: { path: string; body: JsonObject } } }>()
    const list = { ...budget.all_calls.body, project_id: `${team.team}/${project}` }
    const listed = await service.post(budget.all_calls.path, list, { key: team.key })
    const { calls } = listed.json<{ calls: { id: string }[] }>()
    assert.deepEqual(
      calls.map(({ id }) => id),
      [completed.headers.get('tallytree-call-id')],
    )
  })

  it('hold for many at once: what they may cost together is never more', async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'team' }, budget: { amount: 0.51, period: 'month' } })
    const arrived = upstream.arrivals.length
    let go: (() => void) | undefined
    const held = new Promise<void>((resolve) => (go = resolve))
    upstream.behave(async (body, response, request) => {
      await held
      return saying(['Hi'], usageOf(5, 2))(body, response, request)
    })
    // Each may cost 0.126: four of them fit.
    const asked = Array.from({ length: 30 }, () => complete(team))
    const answered = Promise.all(asked)
    const refused = async () => {
      const done = await Promise.all(asked.map((one) => Promise.race([one, Promise.resolve(null)])))
      return done.filter((one) => one?.status === 402).length
    }
    await until(async () => (await refused()) >= 26)
    go!()
    const statuses = (await answered).map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 200).length, 4)
    assert.equal(upstream.arrivals.length - arrived, 4)
    const { spent, reserved, unknown } = (await shown(team))[0]!.used.budget!
    assert.deepEqual([spent, reserved, unknown], [0.1, 0, 0])
    upstream.behave(saying(['Hi'], usageOf(5, 2)))
  })

  it('say so in the log where a level is reached, once', async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'team' }, budget: { amount: 0.155, period: 'day' } })
    // Each may cost 0.076 or so, and costs 0.025.
    const spend = async (max_tokens: number) => (await complete(team, { max_tokens })).status
    for (const status of [200, 200, 200, 200, 402, 402]) assert.equal(await spend(5), status)
    assert.equal(await spend(10), 402)

    const levels = async () => {
      const found: unknown[] = []
      for await (const { type, data } of service.stores.eventStore.readStream(`limits-${team.team}`))
        if (type === 'BudgetReached') found.push([data['level'], data['refused']])
      return found
    }
    await until(async () => (await levels()).length >= 2)
    assert.deepEqual(await levels(), [
      [50, false],
      [100, true],
    ])
  })

  it('charge nothing if no upstream accepted the request, and the reservation if the usage is unknown', async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'team' }, budget: { amount: 1, period: 'month' } })
    upstream.behave((_, response) => response.writeHead(500).end('{}'))
    assert.equal((await complete(team)).status, 502)
    assert.deepEqual((await shown(team))[0]?.used.budget?.unknown, 0)
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const made = await service.post('/api/inference/upstreams', {
      name: 'silent',
      base_url: `https://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`,
      models: [{ id: 'silent', upstream_id: 'chat', price: PRICE }],
      timeouts: { connect_ms: 50 },
    })
    assert.equal(made.status, 200, made.text)
    assert.equal((await complete(team, { model: 'silent' })).status, 504)
    assert.deepEqual((await shown(team))[0]?.used.budget?.unknown, 0)
    const change = { timeouts: { connect_ms: 60_000 } }
    await service.send('PATCH', `/api/inference/upstreams/${made.json<{ id: string }>().id}`, change)
    const gone = new AbortController()
    const left = complete(team, { model: 'silent' }, { signal: gone.signal }).catch(() => undefined)
    await once(silent, 'connection')
    gone.abort()
    await left
    await until(async () => (await shown(team))[0]?.used.running === 0)
    const afterwards = (await shown(team))[0]?.used.budget
    assert.deepEqual([afterwards?.spent, afterwards?.reserved, afterwards?.unknown], [0, 0, 0])
    silent.close()
    upstream.behave((_, response) => response.destroy())
    assert.equal((await complete(team)).status, 502)
    const { spent, reserved, unknown } = (await shown(team))[0]!.used.budget!
    assert.deepEqual([spent, reserved], [0, 0])
    assert.ok(unknown > 0.1 && unknown < 0.13, String(unknown))
    upstream.behave(saying(['Hi'], usageOf(5, 2)))
  })

  it('count unknown usage until it is written off', async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'team' }, budget: { amount: 1, period: 'day' } })
    const writeOff = (body: object) =>
      service.post(`/api/teams/${team.team}/limits/write-offs`, body, { key: team.key })
    interface WriteOff {
      readonly amount: string
      readonly calls: readonly { readonly project_id: string; readonly id: string; readonly amount: string }[]
    }
    upstream.behave((_, response) => response.destroy())
    for (let round = 0; round < 3; round += 1) assert.equal((await complete(team)).status, 502)
    upstream.behave(saying(['Hi'], usageOf(5, 2)))
    assert.equal((await complete(team)).status, 200)
    const sums = async () => (await shown(team))[0]!.used.budget!
    const unknown = async () => Math.round((await sums()).unknown * 1000)
    const each = Math.round((await unknown()) / 3)
    assert.ok(each > 100 && each < 130)

    const none = await writeOff({ scope: { type: 'team' }, period: '2020-01-01' })
    assert.deepEqual(none.json<WriteOff>(), { amount: '0', calls: [] })
    const scope = { type: 'project', project: 'inference' }
    const { calls } = (await writeOff({ scope, call_ids: ['unknown'] })).json<WriteOff>()
    assert.deepEqual(calls, [])
    assert.equal(await unknown(), 3 * each)

    const listed = await service.post(
      '/calls/query',
      { project_id: `${team.team}/inference` },
      { key: team.key },
    )
    const failed = listed
      .json<{ calls: { id: string; exception: string | null }[] }>()
      .calls.filter(({ exception }) => exception !== null)
    const one = await writeOff({ scope, call_ids: [failed[0]!.id], reason: 'not on the bill' })
    assert.equal(one.status, 200, one.text)
    assert.deepEqual(
      one.json<WriteOff>().calls.map(({ id }) => id),
      [failed[0]!.id],
    )
    assert.equal(await unknown(), 2 * each)
    const rest = await Promise.all([writeOff({ scope: { type: 'team' } }), writeOff({ scope })])
    for (const answer of rest) assert.equal(answer.status, 200, answer.text)
    assert.equal(await unknown(), 0)
    assert.equal((await sums()).spent, 0.025)
    assert.deepEqual((await writeOff({ scope: { type: 'team' } })).json<WriteOff>().calls, [])
    for (const wrong of [{}, { scope: { type: 'key' } }, { scope: { type: 'team' }, period: 'today' }])
      assert.equal((await writeOff(wrong)).status, 422)
  })

  it('reserve at the dearest price of those who may serve, and charge that of the upstream that served', async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'team' }, budget: { amount: 1, period: 'month' } })
    const free = await startUpstream(saying(['Hi'], usageOf(5, 2)))
    for (const [name, base_url, price, weight] of [
      ['free', free.baseUrl, null, 1],
      ['paid', upstream.baseUrl, PRICE, 0],
    ] as const) {
      const models = [{ id: 'either', upstream_id: 'chat', price }]
      const made = await service.post('/api/inference/upstreams', { name, base_url, models, weight })
      assert.equal(made.status, 200, made.text)
    }
    const spentBy = async (stream: boolean) => {
      const before = (await shown(team))[0]!.used.budget!.spent
      const answer = await complete(team, { model: 'either', stream })
      assert.equal(answer.status, 200, answer.text)
      const { spent, reserved, unknown } = (await shown(team))[0]!.used.budget!
      assert.deepEqual([reserved, unknown], [0, 0])
      return Math.round((spent - before) * 1000) / 1000
    }
    for (const stream of [false, true]) assert.equal(await spentBy(stream), 0)
    assert.equal((await complete(team, { model: 'either', max_tokens: 200 })).status, 402)
    free.behave((_, response) => response.writeHead(503).end('{}'))
    for (const stream of [false, true]) assert.equal(await spentBy(stream), 0.025)
    await free.close()
  })

  it('hold what is unknown where a kept connection broke, as the upstream may have worked', async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'team' }, budget: { amount: 1, period: 'month' } })
    const closing = await startUpstream(inTurn(saying(['Hi'], usageOf(5, 2)), resetting))
    const models = [{ id: 'closing', upstream_id: 'chat', price: PRICE }]
    const given = { name: 'closing', base_url: closing.baseUrl, models }
    const made = await service.post('/api/inference/upstreams', given)
    assert.equal(made.status, 200, made.text)
    assert.equal((await complete(team, { model: 'closing' })).status, 200)

    assert.equal((await complete(team, { model: 'closing' })).status, 502)
    assert.equal(closing.arrivals.length, 2)
    const { spent, reserved, unknown } = (await shown(team))[0]!.used.budget!
    assert.deepEqual([spent, reserved], [0.025, 0])
    assert.ok(unknown > 0)
    await closing.close()
  })
})
