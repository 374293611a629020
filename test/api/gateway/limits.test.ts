import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { Answered, SendOptions } from '../../support/client.js'
import { startTestService, type TestService } from '../../support/service.js'
import {
  beginStream,
  chunkOf,
  delta,
  failingWith,
  inTurn,
  resetting,
  saying,
  sendEvent,
  usageOf,
} from '../../support/upstreams/behaviours.js'
import { startUpstream, type Behaviour, type ScriptedUpstream } from '../../support/upstreams/upstream.js'
import { until } from '../../support/until.js'

const MODEL = 'priced/chat'
const PRICE = { prompt_token_cost: '0.001', completion_token_cost: '0.01' }

interface ToldError {
  readonly message: string
  readonly type: string
  readonly code: string
}

interface Shown {
  readonly scope: JsonObject
  readonly used: {
    readonly requests: number
    readonly tokens: number
    readonly running: number
    readonly budget: { readonly spent: number; readonly reserved: number; readonly unknown: number } | null
  }
}

describe('limits of completions', () => {
  let service: TestService
  let upstream: ScriptedUpstream

  /** A team with one member, and the member's key. */
  const aTeam = async () => {
    const team = `team-${randomUUID().slice(0, 8)}`
    await service.teams.create(team)
    return { team, key: await service.teams.keyOf(team, `user-of-${team}`, 'team_administrator') }
  }
  type Team = Awaited<ReturnType<typeof aTeam>>

  const limit = async ({ team, key }: Team, body: object): Promise<Answered> =>
    service.send('PUT', `/api/teams/${team}/limits`, body, { key })

  const shown = async ({ team, key }: Team): Promise<readonly Shown[]> =>
    (await service.send('GET', `/api/teams/${team}/limits`, undefined, { key })).json<{ data: Shown[] }>()
      .data

  const complete = ({ team, key }: Team, body: object = {}, options: SendOptions = {}): Promise<Answered> =>
    service.post(
      '/v1/chat/completions',
      { model: MODEL, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 10, ...body },
      { key, headers: { 'openai-project': `${team}/inference` }, ...options },
    )

  const keyIdOf = async ({ key }: Team): Promise<string> => {
    const listed = await service.send('GET', '/api/users/me/api-keys', undefined, { key })
    return listed.json<{ data: { id: string }[] }>().data[0]!.id
  }

  before(async () => {
    service = await startTestService()
    upstream = await startUpstream(saying(['Hi'], usageOf(5, 2)))
    const made = await service.post('/api/inference/upstreams', {
      name: 'priced',
      base_url: upstream.baseUrl,
      models: [{ id: MODEL, upstream_id: 'chat', price: PRICE }],
    })
    assert.equal(made.status, 200, made.text)
  })
  after(async () => {
    await service.stop()
    await upstream.close()
  })

  it('are chosen, listed with what is used, and taken away', async () => {
    const team = await aTeam()
    const chosen = await limit(team, { scope: { type: 'team' }, requests_per_minute: 5 })
    assert.equal(chosen.status, 200, chosen.text)
    await limit(team, { scope: { type: 'key', key: await keyIdOf(team) }, concurrency: 3 })
    assert.equal((await complete(team)).status, 200)

    const [ofKey, ofTeam] = await shown(team)
    assert.deepEqual(ofTeam?.used, { requests: 1, tokens: 7, running: 0, budget: null })
    assert.equal(ofKey?.scope['type'], 'key')

    assert.equal((await limit(team, { scope: { type: 'team' } })).status, 200)
    assert.equal((await shown(team)).length, 1)
  })

  it('of requests answer 429, with what is used, by which calls, and when it frees', async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'project', project: 'inference' }, requests_per_minute: 2 })
    assert.equal((await complete(team)).status, 200)
    assert.equal((await complete(team)).status, 200)
    const refused = await complete(team)

    assert.equal(refused.status, 429, refused.text)
    assert.ok(Number(refused.headers.get('retry-after')) > 0)
    assert.equal(refused.headers.get('x-should-retry'), 'true')
    const { error, limit: told } = refused.json<{ error: ToldError; limit: JsonObject }>()
    assert.equal(error.type, 'rate_limit_error')
    assert.match(error.message, /2 of 2 requests per minute.*Try again in \d+ s/)
    assert.equal((told['last_calls'] as unknown[]).length, 2)
  })

  it('of tokens count what was used, and refuse what could use more than there is', async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'team' }, tokens_per_minute: 40 })
    assert.equal((await complete(team)).status, 200)
    assert.equal((await complete(team, { max_tokens: 15 })).status, 200)
    const refused = await complete(team, { max_tokens: 20 })
    assert.equal(refused.status, 429)
    assert.match(refused.text, /14 of 40 tokens per minute/)
    const never = await complete(team, { max_tokens: 100 })
    assert.match(never.text, /Lower max_tokens/)
    assert.equal(never.headers.get('x-should-retry'), 'false')
  })

  it('of what is under way free as soon as something ends', async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'team' }, concurrency: 1 })
    let go: (() => void) | undefined
    const held = new Promise<void>((resolve) => (go = resolve))
    upstream.behave(async (body, response, request) => {
      await held
      return saying(['Hi'], usageOf(5, 2))(body, response, request)
    })
    const arrived = upstream.arrivals.length
    const first = complete(team)
    await until(() => upstream.arrivals.length > arrived)
    const refused = await complete(team)
    assert.equal(refused.status, 429)
    assert.match(refused.text, /1 of 1 concurrent completions/)
    go!()
    assert.equal((await first).status, 200)
    assert.equal((await complete(team)).status, 200)
    upstream.behave(saying(['Hi'], usageOf(5, 2)))
  })

  it('of what is under way count also what began before they were chosen, and hold as they are now', async () => {
    const team = await aTeam()
    let go: (() => void) | undefined
    const held = new Promise<void>((resolve) => (go = resolve))
    upstream.behave(async (body, response, request) => {
      await held
      return saying(['Hi'], usageOf(5, 2))(body, response, request)
    })
    const arrived = upstream.arrivals.length
    const running = [complete(team), complete(team)]
    await until(() => upstream.arrivals.length === arrived + 2)
    await limit(team, { scope: { type: 'team' }, concurrency: 2 })
    assert.equal((await shown(team))[0]?.used.running, 2)
    assert.match((await complete(team)).text, /2 of 2 concurrent completions/)
    await limit(team, { scope: { type: 'team' }, concurrency: 3 })
    running.push(complete(team))
    await until(() => upstream.arrivals.length === arrived + 3)
    await limit(team, { scope: { type: 'team' }, concurrency: 1 })
    assert.match((await complete(team)).text, /3 of 1 concurrent completions/)
    go!()
    for (const answer of await Promise.all(running)) assert.equal(answer.status, 200)
    assert.equal((await shown(team))[0]?.used.running, 0)
    upstream.behave(saying(['Hi'], usageOf(5, 2)))
  })

  it('of money answer 402 that names the sum and the calls behind it', async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'team' }, budget: { amount: 0.15, period: 'month' } })
    // Each may cost 0.11 or so, and costs 0.025.
    assert.equal((await complete(team)).status, 200)
    const refused = await complete(team, { max_tokens: 13 })

    assert.equal(refused.status, 402, refused.text)
    assert.match(refused.text, /Lower max_tokens or wait: the next month starts at /)
    assert.equal(refused.headers.get('x-should-retry'), 'false')
    const { error, budget } = refused.json<{
      error: ToldError
      budget: { spent: number; last_calls: JsonObject[]; all_calls: { path: string; body: JsonObject } }
    }>()
    assert.equal(error.code, 'insufficient_quota')
    assert.match(error.message, /of 0\.15, 0\.025 is spent/)
    assert.equal(budget.spent, 0.025)
    const list = { ...budget.all_calls.body, project_id: `${team.team}/inference` }
    const listed = await service.post(budget.all_calls.path, list, { key: team.key })
    assert.equal(listed.status, 200, listed.text)
    assert.deepEqual(
      listed.json<{ calls: { id: string }[] }>().calls.map(({ id }) => id),
      budget.last_calls.map(({ id }) => id),
    )
    assert.equal((await complete(team)).status, 200)
  })

  it('of money owe nothing where no completion is to be seen, and the greatest report of what was used', async () => {
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

  it("of money charge cached tokens at the prompt's price where the upstream's price states none", async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'team' }, budget: { amount: 1, period: 'month' } })
    const usage = { ...usageOf(100, 2), cache_creation_input_tokens: 30 }
    upstream.behave(saying(['Hi'], { ...usage, prompt_tokens_details: { cached_tokens: 60 } }))
    for (const stream of [false, true]) assert.equal((await complete(team, { stream })).status, 200)
    assert.equal((await shown(team))[0]?.used.budget?.spent, 0.24)
    upstream.behave(saying(['Hi'], usageOf(5, 2)))
  })

  it('of money for a key name the calls of that key', async () => {
    const [team, project] = [await aTeam(), 'inference']
    const added = await service.post(`/api/teams/${team.team}/members`, {
      user: `other-of-${team.team}`,
      role: 'member',
    })
    const other = { ...team, key: added.json<{ api_key: string }>().api_key }
    const scope = { type: 'key', key: await keyIdOf(other) }
    await limit(team, { scope, budget: { amount: 0.12, period: 'day' } })
    for (const one of [team, other]) assert.equal((await complete(one)).status, 200)
    assert.equal((await complete(team)).status, 200)
    const refused = await complete(other)
    assert.equal(refused.status, 402)
    const { budget } = refused.json<{
      budget: { last_calls: JsonObject[]; all_calls: { path: string; body: JsonObject } }
    }>()
    const list = { ...budget.all_calls.body, project_id: `${team.team}/${project}` }
    const listed = await service.post(budget.all_calls.path, list, { key: team.key })
    const { calls } = listed.json<{ calls: { id: string }[] }>()
    assert.deepEqual(
      calls.map(({ id }) => ({ project_id: `${team.team}/${project}`, id })),
      budget.last_calls,
    )
    assert.equal(calls.length, 1)
  })

  it('of money hold for many at once: what they may cost together is never more', async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'team' }, budget: { amount: 0.5, period: 'month' } })
    const arrived = upstream.arrivals.length
    let go: (() => void) | undefined
    const held = new Promise<void>((resolve) => (go = resolve))
    upstream.behave(async (body, response, request) => {
      await held
      return saying(['Hi'], usageOf(5, 2))(body, response, request)
    })
    // Each may cost 0.111: four of them fit.
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

  it('of money say so in the log where a level is reached, once', async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'team' }, budget: { amount: 0.14, period: 'day' } })
    // Each may cost 0.061 or so, and costs 0.025.
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

  it('charge nothing for what no upstream took up, and the most for what nobody knows', async () => {
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
    assert.ok(unknown > 0.1 && unknown < 0.12, String(unknown))
    upstream.behave(saying(['Hi'], usageOf(5, 2)))
  })

  it('of money reserve at the dearest price of those who may serve, and charge that of the upstream that served', async () => {
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

  it('of money hold nothing for a kept connection that was closed and an upstream that then refused', async () => {
    const team = await aTeam()
    await limit(team, { scope: { type: 'team' }, budget: { amount: 1, period: 'month' } })
    const refusing = failingWith(503, 'too busy')
    const closing = await startUpstream(inTurn(saying(['Hi'], usageOf(5, 2)), resetting, refusing))
    const models = [{ id: 'closing', upstream_id: 'chat', price: PRICE }]
    const given = { name: 'closing', base_url: closing.baseUrl, models }
    const made = await service.post('/api/inference/upstreams', given)
    assert.equal(made.status, 200, made.text)
    assert.equal((await complete(team, { model: 'closing' })).status, 200)

    assert.equal((await complete(team, { model: 'closing' })).status, 502)
    assert.equal(closing.arrivals.length, 3)
    const { spent, reserved, unknown } = (await shown(team))[0]!.used.budget!
    assert.deepEqual([spent, reserved, unknown], [0.025, 0, 0])
    await closing.close()
  })

  it('are the affair of administrators of the team, and of keys of its members', async () => {
    const [team, other] = [await aTeam(), await aTeam()]
    const added = await service.post(`/api/teams/${team.team}/members`, {
      user: `member-of-${team.team}`,
      role: 'member',
    })
    const member = { ...team, key: added.json<{ api_key: string }>().api_key }
    assert.equal((await limit(member, { scope: { type: 'team' }, concurrency: 1 })).status, 403)
    for (const key of [await keyIdOf(other), 'unknown']) {
      const answer = await limit(team, { scope: { type: 'key', key }, concurrency: 1 })
      assert.equal(answer.status, 422)
      assert.match(answer.text, /key of a member of the team/)
    }
    for (const scope of [
      { type: 'project' },
      { type: 'key' },
      { type: 'team', project: 'p' },
      { type: 'all' },
    ])
      assert.equal((await limit(team, { scope, concurrency: 1 })).status, 422)
    for (const wrong of [
      { requests_per_minute: 0 },
      { concurrency: 1.5 },
      { budget: { amount: -1, period: 'day' } },
    ])
      assert.equal((await limit(team, { scope: { type: 'team' }, ...wrong })).status, 422)
  })
})
