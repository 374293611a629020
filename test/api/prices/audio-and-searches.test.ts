import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'
import { sharedService, someProject } from '../shared-service.js'
import { costsOf, recordCalls, setCosts, someCosts, someModel, startedAt } from './given.js'

const STARTED = startedAt('2026-01-01T10:00:00Z')
const OPENAI = {
  prompt_tokens: 1000,
  completion_tokens: 500,
  total_tokens: 1500,
  prompt_tokens_details: { audio_tokens: 800, text_tokens: 200, cached_tokens: 0 },
  completion_tokens_details: { audio_tokens: 400, text_tokens: 100 },
}
const TEXT = { input_tokens: 1000, output_tokens: 100 }
const ANTHROPIC = { ...TEXT, server_tool_use: { web_search_requests: 3 } }
const AUDIO = { prompt_audio_token_cost: 16, completion_audio_token_cost: 32 }
const NAMES = ['prompt_tokens_details.audio_tokens', 'completion_tokens_details.audio_tokens']

describe('prices of audio and units', () => {
  let service: TestService
  before(async () => void (service = await sharedService()))

  /** The total cost, the count of what was not understood and the members that are not charged, at each endpoint. */
  const charged = async (project: string, model: string) => {
    const { call_usage } = accepted(await service.in(project).usage.ofTraces({ include_costs: true })) as {
      call_usage: Record<string, Record<string, JsonObject>>
    }
    const used = call_usage['c']![model]!
    const total = (usage: JsonObject) =>
      Object.entries(usage).reduce(
        (sum, [name, cost]) => (name.endsWith('_total_cost') ? sum + Number(cost) : sum),
        0,
      )
    const asked = { project_id: project, include_costs: true }
    const { totals } = accepted(await service.post('/usage/query', asked)) as unknown as {
      totals: { usage: JsonObject }
    }
    const { calls } = accepted(await service.post('/calls/query', asked)) as { calls: readonly JsonObject[] }
    const { weave } = calls[0]!['summary'] as { weave: JsonObject }
    const stats = accepted(
      await service
        .in(project)
        .calls.stats({
          start: '2026-01-01T00:00:00Z',
          end: '2026-01-02T00:00:00Z',
          usage_metrics: [{ metric: 'total_cost' }],
        }),
    ) as unknown as { usage_buckets: readonly JsonObject[] }
    const inStats = stats.usage_buckets.reduce(
      (sum, bucket) => sum + Number(bucket['total_cost_sum'] ?? 0),
      0,
    )
    const ofRead = total((weave['costs'] as Record<string, JsonObject>)[model]!)
    const rounded = [total(used), totals.usage['total_cost'], ofRead, inStats].map((cost) =>
      Number(cost).toFixed(9),
    )
    assert.equal(new Set(rounded).size, 1, rounded.join(' '))
    assert.equal(totals.usage['unrecognized_usage'], used['unrecognized_usage'] ?? 0)
    const uncharged = weave['uncharged_usage'] as Record<string, unknown> | undefined
    return [Number(rounded[0]), used['unrecognized_usage'] ?? 0, uncharged?.[model] ?? []]
  }

  for (const [what, usage, costs, expected] of [
    ['audio as text without its price', OPENAI, {}, [1500, 1, NAMES]],
    ['audio at its price', OPENAI, AUDIO, [0.5 * 200 + 2 * 100 + 16 * 800 + 32 * 400, 0, []]],
    [
      'audio of the prompt alone at its price',
      OPENAI,
      { prompt_audio_token_cost: 16 },
      [0.5 * 200 + 2 * 500 + 16 * 800, 1, [NAMES[1]]],
    ],
    [
      "Gemini's audio at its price",
      { promptTokenCount: 1000, promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 800 }] },
      AUDIO,
      [0.5 * 200 + 16 * 800, 0, []],
    ],
    [
      'audio that is free',
      { prompt_tokens: 10, prompt_tokens_details: { audio_tokens: 10 } },
      { prompt_audio_token_cost: 0 },
      [0, 0, []],
    ],
    ['no searches without their price', ANTHROPIC, {}, [700, 1, ['server_tool_use.web_search_requests']]],
    ['searches at their price', ANTHROPIC, { web_search_cost: 100 }, [1000, 0, []]],
    [
      'searches at their price, and names other tools',
      { ...ANTHROPIC, server_tool_use: { web_search_requests: 3, code_execution_requests: 1 } },
      { web_search_cost: 100 },
      [1000, 1, ['server_tool_use.code_execution_requests']],
    ],
    ['no requests without their price', { ...TEXT, requests: 3 }, {}, [700, 0, []]],
    ['requests at their price', { ...TEXT, requests: 3 }, { request_cost: 10 }, [730, 0, []]],
    [
      'requests at their price in a tier of service',
      { ...TEXT, requests: 3, service_tier: 'batch' },
      { request_cost: 10, tiers: [{ service_tier: 'batch', factor: 0.5 }] },
      [380, 0, []],
    ],
    ['requests without tokens at their price', { requests: 3 }, { request_cost: 10 }, [30, 0, []]],
    ['no seconds without their price', { type: 'duration', seconds: 8.4 }, {}, [0, 1, ['seconds']]],
    ['seconds at their price', { type: 'duration', seconds: 8.4 }, { second_cost: 10 }, [90, 0, []]],
    ['characters at their price', { ...TEXT, characters: 4 }, { character_cost: 0.25 }, [701, 0, []]],
    [
      'images at their price, and names seconds',
      { images: 2, audio_seconds: 3 },
      { image_cost: 40 },
      [80, 1, ['audio_seconds']],
    ],
    [
      'images in a tier of service, and requests that are the same in all',
      { images: 2, requests: 1, service_tier: 'batch' },
      { image_cost: 40, request_cost: 10, tiers: [{ service_tier: 'batch', factor: 0.5 }] },
      [50, 0, []],
    ],
    [
      'a fast mode at its price',
      { ...TEXT, speed: 'fast' },
      { tiers: [{ service_tier: 'fast', factor: 6 }] },
      [4200, 0, []],
    ],
    [
      'searches and audio in a tier of service',
      { ...OPENAI, ...ANTHROPIC, input_tokens: 0, output_tokens: 0, service_tier: 'batch' },
      { ...AUDIO, web_search_cost: 100, tiers: [{ service_tier: 'batch', factor: 0.5 }] },
      [(0.5 * 200 + 2 * 100 + 16 * 800 + 32 * 400) / 2 + 300, 0, []],
    ],
  ] as const)
    it(`charge ${what}`, async () => {
      const project = someProject()
      const model = someModel()
      await setCosts(service, project, {
        [model]: someCosts({ effective_date: '2025-01-01T00:00:00Z', ...costs }),
      })
      await recordCalls(service, project, [['c', null, { [model]: usage }, STARTED]])
      assert.deepEqual(await charged(project, model), expected)
    })

  for (const [more, expected] of [
    [{ web_search_cost: 100 }, [700 + 200, 0, []]],
    [{}, [700, 1, ['web_search_requests']]],
  ] as const)
    it(`charge searches that only the output of a response has, with ${JSON.stringify(more)}`, async () => {
      const project = someProject()
      const model = someModel()
      const since = { effective_date: '2025-01-01T00:00:00Z' }
      await setCosts(service, project, { [model]: someCosts({ ...since, ...more }) })
      const usage = { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 }
      const search = (type: string) => ({ type: 'web_search_call', status: 'completed', action: { type } })
      const output = { usage, output: [search('search'), search('open_page'), search('search')] }
      await recordCalls(service, project, [['c', null, { [model]: usage }, { ...STARTED, output }]])
      assert.deepEqual(await charged(project, model), expected)
    })

  for (const [model, usage, cost] of [
    ['claude-sonnet-4-20250514', { ...ANTHROPIC, service_tier: 'batch' }, 0.03225],
    ['claude-sonnet-4-20250514', { ...ANTHROPIC, input_tokens: 300_000, output_tokens: 0 }, 1.83],
    [
      'gemini-2.5-flash',
      { promptTokenCount: 1000, promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 800 }] },
      0.00086,
    ],
  ] as const)
    it(`are in the default list: ${model}, ${JSON.stringify(usage)}`, async () => {
      const project = someProject()
      await recordCalls(service, project, [['c', null, { [model]: usage }, STARTED]])
      assert.deepEqual(await charged(project, model), [cost, 0, []])
    })

  it('are stated in the file of a list, and answered', async () => {
    const project = someProject()
    const model = someModel()
    const extras = { ...AUDIO, web_search_cost: 0.01, second_cost: 0.25, character_cost: 0.5, image_cost: 4 }
    const since = { effective_date: '2025-01-01T00:00:00Z' }
    const file = {
      list: model,
      version: '1',
      source: 'a test',
      prices: [{ llm_id: model, ...someCosts({ ...since, ...extras }) }],
    }
    accepted(await service.post('/api/admin/prices', file))
    await recordCalls(service, project, [['c', null, { [model]: { ...OPENAI } }, STARTED]])
    const asked = { project_id: project, include_costs: true, price_list: model }
    const { totals } = accepted(await service.post('/usage/query', asked)) as unknown as {
      totals: { usage: JsonObject }
    }
    assert.equal(totals.usage['total_cost'], 25_900)

    await setCosts(service, project, { [model]: someCosts({ ...since, ...extras }) })
    const [price] = await costsOf(service, project)
    for (const [name, cost] of Object.entries(extras)) assert.equal(price![name], cost)
    const where = { query: { $expr: { $gt: [{ $getField: 'web_search_cost' }, { $literal: 0.02 }] } } }
    assert.deepEqual(await costsOf(service, project, where), [])
    const path = `/api/prices?project_id=${encodeURIComponent(project)}&q=${model}`
    const { data } = accepted(await service.send('GET', path)) as unknown as { data: readonly JsonObject[] }
    assert.deepEqual([data[0]!['web_search_cost'], data[0]!['image_cost']], ['0.01', '4'])
  })
})
