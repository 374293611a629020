import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'
import { sharedService, someProject } from '../shared-service.js'
import { costsOf, recordCalls, setCosts, someCosts, someModel, startedAt } from './given.js'

const SONNET = 'claude-sonnet-4-20250514'
const STARTED = startedAt('2026-01-01T10:00:00Z')
const PYTHON = { attributes: { weave: { source: 'python-sdk', client_version: '0.54.0' } } }

/** Of dollars that doubles are not exact for. */
const rounded = (cost: unknown) => (typeof cost === 'number' ? Math.round(cost * 1e9) / 1e9 : cost)

describe('the tiers of prices', () => {
  let service: TestService
  before(async () => void (service = await sharedService()))

  const usageOf = async (project: string, id: string, model: string) => {
    const answer = accepted(await service.in(project).usage.ofTraces({ include_costs: true }))
    const usage = (answer['call_usage'] as Record<string, Record<string, JsonObject>>)[id]!
    assert.deepEqual(Object.keys(usage), [model])
    return usage[model]!
  }
  const totalOf = (usage: JsonObject) =>
    rounded(
      Object.entries(usage).reduce(
        (sum, [name, cost]) => (name.endsWith('_total_cost') ? sum + Number(cost) : sum),
        0,
      ),
    )
  const readCall = async (project: string, id: string) => {
    const query = { project_id: project, include_costs: true, filter: { call_ids: [id] } }
    const { calls } = accepted(await service.post('/calls/query', query)) as { calls: readonly JsonObject[] }
    return (calls[0]!['summary'] as { weave: JsonObject }).weave
  }
  const groups = async (project: string, more: object) => {
    const asked = { project_id: project, group_by: ['model'], include_costs: true, ...more }
    const { rows } = accepted(await service.post('/usage/query', asked)) as unknown as {
      rows: readonly { group: { model: string }; usage: JsonObject }[]
    }
    return rows.map(({ group, usage }) => [group.model, usage['calls'], rounded(usage['total_cost'])])
  }

  for (const [what, model, usage, cost] of [
    ['200,000 tokens', SONNET, { prompt_tokens: 200_000 }, 0.6],
    ['more than 200,000 tokens', SONNET, { prompt_tokens: 300_000, completion_tokens: 1000 }, 1.8225],
    [
      'more than 200,000 tokens with those of the cache',
      SONNET,
      { input_tokens: 10_000, cache_read_input_tokens: 190_001, output_tokens: 0 },
      0.1740006,
    ],
    ['a batch', SONNET, { input_tokens: 1000, output_tokens: 100, service_tier: 'batch' }, 0.00225],
    ['a long prompt in a batch', SONNET, { input_tokens: 300_000, service_tier: 'batch' }, 0.9],
    ['a long prompt of a name of the model', `anthropic/${SONNET}`, { prompt_tokens: 300_000 }, 1.8],
    ['a long prompt of Gemini', 'gemini-2.5-pro', { promptTokenCount: 300_000 }, 0.75],
    ['several requests in one report', SONNET, { requests: 3, prompt_tokens: 300_000 }, 0.9],
  ] as const)
    it(`charge ${what}`, async () => {
      const project = someProject()
      await recordCalls(service, project, [['c', null, { [model]: usage }, STARTED]])
      const used = await usageOf(project, 'c', model)
      assert.equal(totalOf(used), rounded(cost))
      assert.equal(used['unrecognized_usage'], undefined)
      const { costs, uncharged_usage } = await readCall(project, 'c')
      assert.equal(totalOf((costs as Record<string, JsonObject>)[model]!), rounded(cost))
      assert.equal(uncharged_usage, undefined)
      assert.deepEqual(await groups(project, {}), [[model, 1, rounded(cost)]])
    })

  it('are decided call by call, and sums of calls are of one model', async () => {
    const project = someProject()
    const model = someModel()
    const tiers = [
      { above_prompt_tokens: 128_000, factor: 4 },
      { service_tier: 'batch', factor: 0.5 },
    ]
    await setCosts(service, project, {
      [model]: someCosts({ effective_date: '2025-01-01T00:00:00Z', tiers }),
    })
    const parts = [100_000, 100_000, 140_000]
    const sum = { [model]: { requests: 3, prompt_tokens: 340_000, completion_tokens: 0 } }
    await recordCalls(service, project, [
      [
        'root',
        null,
        sum,
        { ...STARTED, ...PYTHON, summary: { usage: sum, status_counts: { success: 4, error: 0 } } },
      ],
      ...parts.map(
        (prompt_tokens, n) =>
          [
            `c${n}`,
            'root',
            {},
            {
              ...STARTED,
              ...PYTHON,
              summary: {
                usage: { [model]: { requests: 1, prompt_tokens, completion_tokens: 0 } },
                status_counts: { success: 1, error: 0 },
              },
            },
          ] as const,
      ),
    ])
    const cost = 50_000 + 50_000 + 4 * 70_000
    assert.equal(totalOf(await usageOf(project, 'root', model)), cost)
    assert.deepEqual(await groups(project, {}), [[model, 3, cost]])
    const roots = { usage: 'inclusive', filter: { trace_roots_only: true } }
    assert.deepEqual(await groups(project, roots), [[model, 1, cost]])
    const { call_usage } = accepted(await service.in(project).usage.ofTraces({})) as unknown as {
      call_usage: Record<string, Record<string, JsonObject>>
    }
    assert.deepEqual(Object.keys(call_usage['root']!), [model])
    assert.equal(call_usage['root']![model]!['prompt_tokens'], 340_000)
    const { rows } = accepted(
      await service.post('/api/pages/explain', { project_id: project, trace_id: 't', call_id: 'root' }),
    ) as unknown as { rows: readonly JsonObject[] }
    assert.deepEqual(
      rows
        .filter(({ counted }) => counted === true)
        .map((row) => [row['model'], row['unit_price'], row['units']]),
      [
        [model, '2', 140_000],
        [model, '0.5', 200_000],
      ],
    )
  })

  it('count and name a tier of service that the price does not know', async () => {
    const project = someProject()
    const model = someModel()
    const tiers = [{ service_tier: 'batch', factor: 0.5 }]
    await setCosts(service, project, {
      [model]: someCosts({ effective_date: '2025-01-01T00:00:00Z', tiers }),
    })
    const usage = (service_tier: string, more: object = {}) => ({
      [model]: { prompt_tokens: 8, service_tier, ...more },
    })
    await recordCalls(service, project, [
      ['batch', null, usage('batch'), STARTED],
      ['flex', null, usage('flex'), STARTED],
      ['both', null, usage('batch', { speed: 'fast' }), STARTED],
    ])
    const counted = async (id: string) => {
      const used = await usageOf(project, id, model)
      return [totalOf(used), used['unrecognized_usage'], (await readCall(project, id))['uncharged_usage']]
    }
    assert.deepEqual(await counted('batch'), [2, undefined, undefined])
    assert.deepEqual(await counted('flex'), [4, 1, { [model]: ['service_tier'] }])
    assert.deepEqual(await counted('both'), [2, 1, { [model]: ['speed'] }])
  })

  it('charge the tier of service that a response names beside its usage', async () => {
    const project = someProject()
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 }
    const output = (service_tier: string) => ({ ...STARTED, output: { model: 'gpt-5', service_tier, usage } })
    await recordCalls(service, project, [
      ['default', null, { 'gpt-5': usage }, output('default')],
      ['flex', null, { 'gpt-5': usage }, output('flex')],
      ['priority', null, { 'gpt-5': usage }, output('priority')],
      ['unknown', null, { 'gpt-4-turbo': usage }, output('flex')],
    ])
    for (const [id, model, cost, uncharged] of [
      ['default', 'gpt-5', 1.25, undefined],
      ['flex', 'gpt-5', 0.625, undefined],
      ['priority', 'gpt-5', 2.5, undefined],
      ['unknown', 'gpt-4-turbo', 10, { 'gpt-4-turbo': ['service_tier'] }],
    ] as const) {
      const used = await usageOf(project, id, model)
      const { costs, uncharged_usage } = await readCall(project, id)
      assert.equal(totalOf(used), cost)
      assert.equal(totalOf((costs as Record<string, JsonObject>)[model]!), cost)
      assert.deepEqual(uncharged_usage, uncharged)
      assert.equal(used['unrecognized_usage'], uncharged === undefined ? undefined : 1)
    }
  })

  it('are answered, and one price with the same tiers is kept', async () => {
    const project = someProject()
    const model = someModel()
    const tiers = [{ above_prompt_tokens: 200_000, prompt_token_cost: 1, completion_token_cost: 4 }]
    const costs = { [model]: someCosts({ effective_date: '2025-01-01T00:00:00Z', tiers }) }
    const first = await setCosts(service, project, costs)
    assert.deepEqual(await setCosts(service, project, costs), first)
    const [price] = await costsOf(service, project)
    const expected = {
      above_prompt_tokens: 200_000,
      service_tier: null,
      prompt_token_cost: '1',
      completion_token_cost: '4',
      cache_read_input_token_cost: '1',
      cache_creation_input_token_cost: '1',
      cache_creation_1h_input_token_cost: '1',
    }
    assert.deepEqual(price!['tiers'], [expected])
    const path = `/api/prices?project_id=${encodeURIComponent(project)}&q=${model}`
    const { data } = accepted(await service.send('GET', path)) as unknown as { data: readonly JsonObject[] }
    assert.deepEqual(data[0]!['tiers'], [expected])
    const other = { [model]: { ...costs[model], tiers: [{ above_prompt_tokens: 200_000, factor: 3 }] } }
    assert.notDeepEqual(await setCosts(service, project, other), first)
  })
})
