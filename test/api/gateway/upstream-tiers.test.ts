import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import {
  beginStream,
  chunkOf,
  delta,
  saying,
  sendEvent,
  usageOf,
  wholeOf,
} from '../../support/upstreams/behaviours.js'
import { accepted } from '../calls/given.js'
import { startLimitedTeams, type LimitedTeams } from './limited-teams.js'

const PRICE = {
  prompt_token_cost: '0.001',
  completion_token_cost: '0.01',
  prompt_audio_token_cost: '0.005',
  web_search_cost: '0.5',
  tiers: [
    { above_prompt_tokens: 32_000, prompt_token_cost: '0.002', completion_token_cost: 0.02 },
    { service_tier: 'flex', factor: 0.5 },
  ],
}

describe('the price of an upstream', () => {
  let teams: LimitedTeams
  before(async () => void (teams = await startLimitedTeams()))
  after(() => teams.stop())

  /** The model of a team's own upstream with the price. */
  const serve = async (team: string, price: object = PRICE) => {
    const models = [{ id: `${team}/chat`, upstream_id: 'chat', price }]
    const body = { name: team, team, base_url: teams.upstream.baseUrl, models }
    return accepted(await teams.service.post('/api/inference/upstreams', body))
  }

  for (const [what, usage, response, cost] of [
    ['a short prompt', usageOf(10, 1), {}, '0.02'],
    ['a long prompt', usageOf(40_000, 1), {}, '80.02'],
    ['a tier of service that the response names', usageOf(10, 1), { service_tier: 'flex' }, '0.01'],
    ['a tier of service of a long prompt', usageOf(40_000, 1), { service_tier: 'flex' }, '40.01'],
    ['a tier that the price does not have', usageOf(10, 1), { service_tier: 'priority' }, '0.02'],
    ['audio', { ...usageOf(10, 1), prompt_tokens_details: { audio_tokens: 4 } }, {}, '0.036'],
    ['searches', { ...usageOf(10, 1), server_tool_use: { web_search_requests: 2 } }, {}, '1.02'],
  ] as const)
    for (const stream of [false, true])
      it(`charges ${what}${stream ? ' of a stream' : ''} in budgets, headers and reports`, async () => {
        const { service, upstream, aTeam, limit, shown, complete } = teams
        const one = await aTeam()
        await serve(one.team)
        await limit(one, { scope: { type: 'team' }, budget: { amount: 1e6, period: 'month' } })
        upstream.behave((body, answer) => {
          if (body['stream'] !== true) {
            answer.writeHead(200, { 'content-type': 'application/json' })
            answer.end(JSON.stringify({ ...wholeOf('chat', 'Hi', usage), ...response }))
            return
          }
          beginStream(answer)
          sendEvent(answer, { ...chunkOf('chat', [delta(0, { content: 'Hi' }, 'stop')], null), ...response })
          sendEvent(answer, chunkOf('chat', [], usage))
          sendEvent(answer, '[DONE]')
          answer.end()
        })
        const completed = await complete(one, { model: `${one.team}/chat`, stream })
        assert.equal(completed.status, 200, completed.text)
        if (!stream) assert.equal(completed.headers.get('tallytree-cost'), cost)
        const [team] = await shown(one)
        assert.equal(team!.used.budget!.spent, Number(cost))
        const asked = { project_id: `${one.team}/inference`, include_costs: true }
        const { totals } = accepted(await service.post('/usage/query', asked)) as unknown as {
          totals: { usage: JsonObject }
        }
        assert.equal(totals.usage['total_cost'], Number(cost))
        assert.equal(totals.usage['unrecognized_usage'], response.service_tier === 'priority' ? 1 : 0)
      })

  it('is answered with the costs of each tier, which may be sent again', async () => {
    const { team } = await teams.aTeam()
    const made = await serve(team)
    const [{ price }] = made['models'] as unknown as [{ price: { tiers: readonly JsonObject[] } }]
    assert.deepEqual(
      price.tiers.map((tier) => [
        tier['above_prompt_tokens'],
        tier['service_tier'],
        tier['prompt_token_cost'],
      ]),
      [
        [32_000, null, '0.002'],
        [0, 'flex', '0.0005'],
        [32_000, 'flex', '0.001'],
      ],
    )
    const path = `/api/inference/upstreams/${made['id'] as string}`
    const changed = accepted(await teams.service.send('PATCH', path, { models: made['models'] }))
    assert.deepEqual(changed['models'], made['models'])
  })

  it('has its most expensive tier reserved', async () => {
    const { aTeam, limit, complete, upstream } = teams
    const one = await aTeam()
    const tiers = [{ service_tier: 'priority', factor: 1000 }]
    await serve(one.team, { ...PRICE, tiers })
    await limit(one, { scope: { type: 'team' }, budget: { amount: 1, period: 'month' } })
    upstream.behave(saying(['Hi']))
    assert.equal((await complete(one, { model: `${one.team}/chat` })).status, 402)
  })

  it('is refused with a tier that no list may have', async () => {
    const { team } = await teams.aTeam()
    const body = { name: team, team, base_url: teams.upstream.baseUrl }
    const price = { ...PRICE, tiers: [{ service_tier: 'flex' }] }
    const models = [{ id: `${team}/chat`, upstream_id: 'chat', price }]
    const refused = await teams.service.post('/api/inference/upstreams', { ...body, models })
    assert.equal(refused.status, 422, refused.text)
  })
})
