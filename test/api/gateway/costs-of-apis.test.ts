import assert from 'node:assert/strict'
import { APIS } from '../../../src/domain/gateway/upstreams/apis.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { accepted } from '../calls/given.js'
import { startLimitedTeams, type LimitedTeams } from './limited-teams.js'

const PRICE = {
  prompt_token_cost: '0.001',
  completion_token_cost: '0.01',
  cache_read_input_token_cost: '0.0001',
  cache_creation_input_token_cost: '0.002',
  cache_creation_1h_input_token_cost: '0.004',
  web_search_cost: '0.5',
  request_cost: '0.03',
  second_cost: '0.0001',
  character_cost: '0.000015',
  image_cost: '0.04',
  tiers: [
    { service_tier: 'flex', factor: 0.5 },
    { service_tier: 'fast', factor: 6 },
  ],
}

const SEARCH = { type: 'web_search_call', status: 'completed', action: { type: 'search' } }
const MESSAGE = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }

describe('the cost of an answer', () => {
  let teams: LimitedTeams
  before(async () => void (teams = await startLimitedTeams()))
  after(() => teams.stop())

  for (const [path, body, answer, cost] of [
    [
      'responses',
      { input: 'Hello' },
      {
        ...{ id: 'resp_1', object: 'response', status: 'completed', output: [SEARCH, SEARCH, MESSAGE] },
        service_tier: 'flex',
        usage: {
          input_tokens: 2100,
          input_tokens_details: { cached_tokens: 1920, cache_write_tokens: 100 },
          output_tokens: 30,
          total_tokens: 2130,
        },
      },
      (80 * 0.001 + 1920 * 0.0001 + 100 * 0.002 + 30 * 0.01) / 2 + 2 * 0.5 + 0.03,
    ],
    [
      'messages',
      { max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
      {
        ...{ id: 'msg_1', type: 'message', role: 'assistant', stop_reason: 'end_turn' },
        content: [{ type: 'text', text: 'Hi' }],
        usage: {
          input_tokens: 80,
          cache_creation_input_tokens: 100,
          cache_read_input_tokens: 1920,
          cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 },
          output_tokens: 30,
          server_tool_use: { web_search_requests: 1 },
          ...{ service_tier: 'standard', speed: 'fast' },
        },
      },
      (80 * 0.001 + 1920 * 0.0001 + 60 * 0.002 + 40 * 0.004 + 30 * 0.01) * 6 + 0.5 + 0.03,
    ],
    [
      'embeddings',
      { input: 'Hello' },
      { object: 'list', data: [], usage: { prompt_tokens: 4, total_tokens: 4 } },
      4 * 0.001 + 0.03,
    ],
    ['moderations', { input: 'Hello' }, { id: 'modr_1', results: [] }, 0.03],
    [
      'moderations',
      { input: 'Hello' },
      { results: [], usage: { type: 'duration', seconds: 8.5, characters: 12, images: 3 } },
      9 * 0.0001 + 12 * 0.000015 + 3 * 0.04 + 0.03,
    ],
    [
      'rerank',
      { query: 'Hello', documents: ['Hi'] },
      { id: 'r', results: [], meta: { billed_units: { search_units: 2 } } },
      2 * 0.5 + 0.03,
    ],
  ] as const)
    it(`of ${path} is ${cost.toFixed(5)}, the same in headers, budgets and reports`, async () => {
      const { service, upstream, aTeam, limit, shown } = teams
      const one = await aTeam()
      const model = `${one.team}/model`
      const models = [{ id: model, upstream_id: 'model', price: PRICE }]
      const added = { name: one.team, team: one.team, base_url: upstream.baseUrl, apis: APIS, models }
      accepted(await service.post('/api/inference/upstreams', added))
      await limit(one, { scope: { type: 'team' }, budget: { amount: 1e6, period: 'month' } })
      upstream.behave((_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ ...answer, model: 'model' }))
      })
      const headers = { 'openai-project': `${one.team}/inference` }
      const answered = await service.post(`/v1/${path}`, { model, ...body }, { key: one.key, headers })
      assert.equal(answered.status, 200, answered.text)
      const expected = cost.toFixed(9)
      assert.equal(Number(answered.headers.get('tallytree-cost')).toFixed(9), expected)
      const [team] = await shown(one)
      assert.equal(team!.used.budget!.spent.toFixed(9), expected)
      const asked = { project_id: `${one.team}/inference`, include_costs: true }
      const { totals } = accepted(await service.post('/usage/query', asked)) as unknown as {
        totals: { usage: JsonObject }
      }
      assert.equal(Number(totals.usage['total_cost']).toFixed(9), expected)
      assert.equal(totals.usage['unrecognized_usage'], 0)
    })
})
