import assert from 'node:assert/strict'
import type { Answered } from '../../support/client.js'
import { saying, usageOf } from '../../support/upstreams/behaviours.js'
import { until } from '../../support/until.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { startLimitedTeams, type LimitedTeams, type ToldError } from './limited-teams.js'

describe('limits of completions', () => {
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

  it('of requests answer 429, with what is used, and when it frees', async () => {
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
    assert.deepEqual([told['most'], told['used']], [2, 2])
  })

  it('are told in the headers of OpenAI, of the limit of which least is left', async () => {
    const team = await aTeam()
    const told = ({ headers }: Answered) =>
      ['requests', 'tokens'].map((of) =>
        ['limit', 'remaining', 'reset'].map((what) => headers.get(`x-ratelimit-${what}-${of}`) ?? null),
      )
    assert.deepEqual(told(await complete(team)), [
      [null, null, null],
      [null, null, null],
    ])
    await limit(team, { scope: { type: 'team' }, requests_per_minute: 3, tokens_per_minute: 1000 })
    await limit(team, { scope: { type: 'project', project: 'inference' }, requests_per_minute: 2 })
    for (const [stream, limits] of [
      [false, ['2', '1']],
      [true, ['2', '0']],
    ] as const) {
      const [requests, tokens] = told(await complete(team, { stream }))
      assert.deepEqual(requests!.slice(0, 2), limits)
      assert.match(requests![2]!, /^(60|59(\.\d+)?)s$/)
      assert.equal(tokens![0], '1000')
      assert.ok(Number(tokens![1]) > 950 && Number(tokens![1]) < 1000)
    }
    const refused = await complete(team)
    assert.equal(refused.status, 429)
    assert.deepEqual(told(refused)[0]!.slice(0, 2), ['2', '0'])
  })

  it('are told in the headers of Anthropic to clients of messages', async () => {
    const [{ team, key }, model] = [await aTeam(), 'messages/small']
    const made = await service.post(
      '/api/inference/upstreams',
      {
        team,
        name: 'm',
        base_url: upstream.baseUrl,
        apis: ['messages'],
        models: [{ id: model, upstream_id: 'm' }],
      },
      { key },
    )
    assert.equal(made.status, 200, made.text)
    await limit({ team, key }, { scope: { type: 'team' }, requests_per_minute: 1, tokens_per_minute: 1000 })
    const body = { model, max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }
    const headers = { 'openai-project': `${team}/inference`, 'x-api-key': key }
    const ask = () => service.post('/v1/messages', body, { key: null, headers })
    await ask()
    const refused = await ask()
    assert.equal(refused.status, 429, refused.text)
    const { type, error } = refused.json<{ type: string; error: ToldError }>()
    assert.deepEqual([type, error.type], ['error', 'rate_limit_error'])
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/)
    const told = (name: string) => refused.headers.get(`anthropic-ratelimit-${name}`)
    assert.deepEqual([told('requests-limit'), told('requests-remaining')], ['1', '0'])
    assert.equal(told('tokens-limit'), '1000')
    assert.match(told('requests-reset') ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.equal(refused.headers.get('x-ratelimit-limit-requests'), null)
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
