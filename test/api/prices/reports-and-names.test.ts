import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'
import { sharedService, someProject } from '../shared-service.js'
import { costsIn, recordCalls, setCosts, someCosts, someModel, tokens, unpricedIn } from './given.js'

const LATER = { started_at: '2026-01-01T00:00:00Z', ended_at: '2026-01-01T00:00:01Z' }

describe('costs of what clients report', () => {
  let service: TestService
  before(async () => void (service = await sharedService()))

  const usageOf = async (project: string, include_costs = true) => {
    const answer = await service.in(project).usage.ofTraces({ include_costs })
    return accepted(answer)['call_usage'] as Record<string, Record<string, JsonObject>>
  }
  const totalOf = (costs: readonly unknown[]) =>
    Math.round(costs.reduce<number>((sum, cost) => sum + Number(cost), 0) * 1e9) / 1e9

  for (const [what, model, report, cost, prompt] of [
    [
      'Anthropic reports with the cache on top',
      'claude-opus-4-1-20250805',
      {
        input_tokens: 5000,
        output_tokens: 100,
        cache_read_input_tokens: 60_000,
        cache_creation_input_tokens: 1000,
      },
      0.19125,
      66_000,
    ],
    [
      'Anthropic reports with writes for an hour',
      'claude-opus-4-1',
      {
        input_tokens: 5000,
        output_tokens: 100,
        cache_creation_input_tokens: 3000,
        cache_creation: { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 2000 },
      },
      0.16125,
      8000,
    ],
    [
      'proxies report under two names',
      'gpt-4o',
      {
        prompt_tokens: 2000,
        input_tokens: 2000,
        completion_tokens: 100,
        output_tokens: 100,
        total_tokens: 2100,
      },
      0.006,
      2000,
    ],
    [
      'Bedrock reports',
      'us.anthropic.claude-sonnet-4-20250514-v1:0',
      { inputTokens: 1000, outputTokens: 100, totalTokens: 5100, cacheReadInputTokens: 4000 },
      0.0057,
      5000,
    ],
    [
      'Gemini reports',
      'models/gemini-2.5-flash',
      { promptTokenCount: 1000, candidatesTokenCount: 100, thoughtsTokenCount: 300, totalTokenCount: 1400 },
      0.0013,
      1000,
    ],
  ] as const)
    it(`are right where ${what}`, async () => {
      const project = someProject()
      await recordCalls(service, project, [['c', null, { [model]: report }, LATER]])
      const answer = await service.in(project).usage.ofTraces({ include_costs: true })
      assert.equal(totalOf(costsIn(answer, 'c')[model]!), cost)
      assert.equal((await usageOf(project))['c']![model]!['prompt_tokens'], prompt)
    })

  for (const model of [
    'openai/gpt-4o',
    'azure/gpt-4o',
    'claude-sonnet-4',
    'anthropic/claude-sonnet-4-20250514',
    'us.anthropic.claude-sonnet-4-20250514-v1:0',
    'models/gemini-2.0-flash',
    'gpt-4o-2025-01-01',
    'openrouter/anthropic/claude-3.7-sonnet',
    'claude-opus-4@20250514',
  ])
    it(`are by the default list for ${model}`, async () => {
      const project = someProject()
      await recordCalls(service, project, [['c', null, { [model]: tokens(1000) }, LATER]])
      const answer = await service.in(project).usage.ofTraces({ include_costs: true })
      assert.ok(Number(costsIn(answer, 'c')[model]![0]) > 0)
      assert.deepEqual(unpricedIn(answer), [[], 0])
    })

  it('are 0 for models that are served for free', async () => {
    const project = someProject()
    await recordCalls(service, project, [['c', null, { 'openai/gpt-4o:free': tokens(1000) }, LATER]])
    const answer = await service.in(project).usage.ofTraces({ include_costs: true })
    assert.deepEqual(costsIn(answer, 'c'), { 'openai/gpt-4o:free': [0, 0, 0, 0] })
    assert.deepEqual(unpricedIn(answer), [[], 0])
  })

  it("are by the project's price under another spelling, and by that of the exact name first", async () => {
    const project = someProject()
    const dated = { effective_date: '2025-01-01T00:00:00Z' }
    await setCosts(service, project, {
      'gpt-4o': someCosts({ prompt_token_cost: 1, ...dated }),
      'azure/gpt-4o': someCosts({ prompt_token_cost: 2, ...dated }),
    })
    const used = { 'openai/gpt-4o': tokens(1), 'azure/gpt-4o': tokens(1), 'gpt-4o-2024-11-20': tokens(1) }
    await recordCalls(service, project, [['c', null, used, LATER]])
    const costs = costsIn(await service.in(project).usage.ofTraces({ include_costs: true }), 'c')
    assert.equal(costs['openai/gpt-4o']![0], 1)
    assert.equal(costs['azure/gpt-4o']![0], 2)
    assert.equal(costs['gpt-4o-2024-11-20']![0], 0.0000025)
  })

  it("charge cached tokens as the prompt's where the SDK sends 0 for them", async () => {
    const [project, model] = [someProject(), someModel()]
    const given = { cache_read_input_token_cost: 0, cache_creation_input_token_cost: 0 }
    await setCosts(service, project, {
      [model]: { prompt_token_cost: 1e-6, completion_token_cost: 5e-6, ...given },
    })
    const used = tokens(100_000, 0, { prompt_tokens_details: { cached_tokens: 90_000 } })
    await recordCalls(service, project, [['c', null, { [model]: used }]])
    const costs = costsIn(await service.in(project).usage.ofTraces({ include_costs: true }), 'c')
    assert.equal(totalOf(costs[model]!), 0.1)
  })

  it('are what the provider reported where no price is known, and are told apart', async () => {
    const [project, priced, unpriced] = [someProject(), someModel(), someModel()]
    await setCosts(service, project, { [priced]: someCosts() })
    const cost = { cost: 0.0042 }
    await recordCalls(service, project, [
      ['c', null, { [priced]: tokens(1, 0, cost), [unpriced]: tokens(1, 0, cost) }, LATER],
    ])
    const usage = (await usageOf(project))['c']!
    assert.deepEqual(
      [usage[priced]!['provider_cost'], usage[unpriced]!['provider_cost']],
      [undefined, 0.0042],
    )
    assert.equal(usage[unpriced]!['prompt_tokens_total_cost'], null)

    const query = { project_id: project, include_costs: true }
    const groups = accepted(await service.post('/usage/query', query)) as { totals?: { usage: JsonObject } }
    const { total_cost, provider_cost, prompt_tokens_total_cost } = groups.totals!.usage
    assert.deepEqual([total_cost, provider_cost, prompt_tokens_total_cost], [0.5042, 0.0042, 0.5])

    const { calls } = accepted(await service.post('/calls/query', query))
    const weave = ((calls as JsonObject[])[0]!['summary'] as { weave: JsonObject }).weave
    const costs = weave['costs'] as Record<string, JsonObject>
    assert.equal(costs[unpriced]!['provider_cost'], 0.0042)
    assert.equal(costs[unpriced]!['prompt_tokens_total_cost'], undefined)
    assert.equal(costs[priced]!['provider_cost'], undefined)
  })

  it('are null without a price, and every format names the models', async () => {
    const [project, model] = [someProject(), 'nobody/knows-1']
    await recordCalls(service, project, [['c', null, { [model]: tokens(3) }, LATER]])
    const asked = { project_id: project, include_costs: true }
    const query = (more: object) => service.post('/usage/query', { ...asked, group_by: ['model'], ...more })

    const { rows, totals } = accepted(await query({})) as unknown as {
      rows: readonly { usage: JsonObject }[]
      totals: { usage: JsonObject }
    }
    for (const { usage } of [...rows, totals]) {
      assert.deepEqual([usage['total_cost'], usage['prompt_tokens_total_cost']], [null, null])
      assert.deepEqual([usage['unpriced_models'], usage['unpriced_model_count']], [[model], 1])
    }
    const line = JSON.parse((await query({ format: 'ndjson' })).text) as { usage: JsonObject }
    assert.deepEqual(line.usage['unpriced_models'], [model])
    const { text, headers } = await query({ format: 'csv' })
    assert.ok(text.includes('unpriced_model_count') && text.includes('unpriced_models'))
    assert.ok(text.split('\r\n')[1]!.endsWith(`1,"[""${model}""]"`))
    assert.equal(headers.get('tallytree-unpriced-models'), null)
    assert.equal((await query({ format: 'parquet' })).status, 200)

    for (const more of [{}, { include_usage: true, limit: 10 }]) {
      const listed = accepted(await service.post('/calls/query', { ...asked, ...more }))
      const streamed = await service.post('/calls/stream_query', { ...asked, ...more })
      for (const call of [(listed['calls'] as JsonObject[])[0]!, JSON.parse(streamed.text) as JsonObject]) {
        const weave = (call['summary'] as { weave: JsonObject }).weave
        assert.deepEqual([weave['costs'], weave['unpriced_models']], [undefined, [model]])
        if (!('limit' in more)) continue
        const usage = (call['usage'] as Record<string, JsonObject>)[model]!
        assert.equal(usage['prompt_tokens_total_cost'], null)
      }
    }
  })

  it('leave no report out that was not understood', async () => {
    const project = someProject()
    await recordCalls(service, project, [
      ['root', null, { m: { tokens_in: 5 }, half: { prompt_tokens: 5, completion_tokens: 'many' } }, LATER],
      ['child', 'root', { m: { tokens_in: 5 }, text: 'oops', zero: tokens(0) }, LATER],
    ])
    const usage = await usageOf(project, false)
    assert.equal(usage['root']!['m']!['unrecognized_usage'], 2)
    assert.deepEqual(
      [usage['root']!['half']!['prompt_tokens'], usage['root']!['half']!['unrecognized_usage']],
      [5, 1],
    )
    assert.deepEqual(Object.keys(usage['child']!), ['m'])
    const groups = accepted(await service.post('/usage/query', { project_id: project })) as {
      totals?: { usage: JsonObject }
    }
    assert.equal(groups.totals!.usage['unrecognized_usage'], 3)
  })
})
