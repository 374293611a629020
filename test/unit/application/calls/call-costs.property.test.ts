import assert from 'node:assert/strict'
import fc from 'fast-check'
import { callCosts, totalCostOf } from '../../../../src/application/calls/call-costs.js'
import { TOKEN_COSTS } from '../../../../src/domain/prices/cache-costs.js'
import { costOf } from '../../../../src/domain/calls/call-cost.js'
import { numberFrom } from '../../../../src/domain/prices/decimal.js'
import { exactTiers } from '../../../../src/domain/prices/offered-tiers.js'
import { reportedUsageOf } from '../../../../src/domain/calls/usage/reported.js'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { bookOf } from '../../../../src/projections/prices/book.js'

const PROJECT = 'team/p'
const AT = '2026-01-01T00:00:00.000000Z' as Instant

/** Dyadic, so that sums of doubles are exact. */
const COSTS = ['0.5', '2', '0.25', '4', '8', '16', '32', '64', '128', '256', '512', '1024'] as const

const NO_TIER = {
  above_prompt_tokens: 0,
  service_tier: null,
  factor: null,
  prompt_token_cost: null,
  completion_token_cost: null,
  cache_read_input_token_cost: null,
  cache_creation_input_token_cost: null,
  cache_creation_1h_input_token_cost: null,
  prompt_audio_token_cost: null,
  completion_audio_token_cost: null,
  web_search_cost: null,
  request_cost: null,
  second_cost: null,
  character_cost: null,
  image_cost: null,
}

const stored = {
  id: 'price',
  owner: PROJECT,
  llm_id: 'priced',
  prompt_token_cost_unit: 'USD',
  completion_token_cost_unit: 'USD',
  provider_id: 'test',
  created_by: 'test',
  created_at: AT,
  effective_date: AT,
  ...(Object.fromEntries(TOKEN_COSTS.map((name, kind) => [name, COSTS[kind]!])) as Record<
    (typeof TOKEN_COSTS)[number],
    string
  >),
}
const TIERS = exactTiers(
  {
    prompt_token_cost: 0.5,
    completion_token_cost: 2,
    cache_read_input_token_cost: 0.25,
    cache_creation_input_token_cost: 4,
    cache_creation_1h_input_token_cost: 8,
    prompt_audio_token_cost: 16,
    completion_audio_token_cost: 32,
    web_search_cost: 64,
    request_cost: 128,
    second_cost: 256,
    character_cost: 512,
    image_cost: 1024,
  },
  [
    { ...NO_TIER, above_prompt_tokens: 200_000, factor: 2 },
    { ...NO_TIER, service_tier: 'batch', factor: 0.5 },
  ],
)
const BOOK = bookOf([{ ...stored, tiers: TIERS }], PROJECT, undefined)
const [PROMPT, COMPLETION, READ, CREATION, HOUR, ...EXTRA_COSTS] = COSTS
const PRICES = {
  latest: (owner: string, model: string) =>
    owner === PROJECT && model === 'priced'
      ? ([PROMPT, COMPLETION, READ, CREATION, HOUR, TIERS, ...EXTRA_COSTS] as const)
      : undefined,
}

/** What automations and evaluations say that a call costs. */
const costs = (usage: JsonObject): readonly [number | null, number | null] => {
  const { models } = reportedUsageOf({ usage })
  const amount = costOf(PRICES, { project_id: PROJECT, started_at: AT, models })
  const ofReads = callCosts(BOOK, { project_id: PROJECT, started_at: AT }, { usage })
  return [amount === undefined ? null : numberFrom(amount), totalCostOf(ofReads)]
}

const count = fc.nat(3)
const report = fc.record(
  {
    prompt_tokens: count,
    completion_tokens: count,
    cache_read_input_tokens: count,
    cache_creation: fc.record({ ephemeral_1h_input_tokens: count }),
    cost: fc.constantFrom(0, 0.25),
    requests: fc.constant(1),
    service_tier: fc.constantFrom('batch', 'flex', 'standard'),
    input_tokens: fc.constantFrom(200_000, 200_001),
    prompt_tokens_details: fc.record({ audio_tokens: count }),
    completion_tokens_details: fc.record({ audio_tokens: count }),
    seconds: count,
    characters: count,
    images: count,
    server_tool_use: fc.record({ web_search_requests: count }),
  },
  { requiredKeys: [] },
)

describe('the cost of a call', () => {
  for (const [name, usage, expected] of [
    ['is unknown without usage', {}, null],
    [
      'is unknown if only tokens without a price were used',
      { priced: {}, other: { prompt_tokens: 3 } },
      null,
    ],
    ['is 0 if no tokens were used', { other: { requests: 1 } }, 0],
    ['is that of a long prompt', { priced: { prompt_tokens: 200_001 } }, 200_001],
    [
      'has the size of one request where several are added up',
      { priced: { prompt_tokens: 200_001, requests: 2 } },
      100_000.5 + 2 * 128,
    ],
    ['is that of a tier of service', { priced: { prompt_tokens: 4, service_tier: 'batch' } }, 1],
    [
      'is that of a tier and a long prompt',
      { priced: { prompt_tokens: 400_000, service_tier: 'batch' } },
      200_000,
    ],
    [
      'is the usual one for a tier without a price',
      { priced: { prompt_tokens: 4, service_tier: 'flex' } },
      2,
    ],
    ['is that of audio', { priced: { prompt_tokens: 4, prompt_tokens_details: { audio_tokens: 3 } } }, 48.5],
    [
      'is that of audio of the completion',
      { priced: { completion_tokens: 4, completion_tokens_details: { audio_tokens: 3 } } },
      98,
    ],
    [
      'charges no more audio than the prompt has beside its cached tokens',
      { priced: { prompt_tokens: 4, prompt_tokens_details: { audio_tokens: 9, cached_tokens: 3 } } },
      16.75,
    ],
    [
      'is that of searches, at the same price in each tier',
      { priced: { prompt_tokens: 4, service_tier: 'batch', server_tool_use: { web_search_requests: 2 } } },
      129,
    ],
    ['is that of requests', { priced: { requests: 2 }, other: { requests: 3 } }, 256],
    ['is that of seconds that were begun', { priced: { type: 'duration', seconds: 1.2 } }, 512],
    ['is that of characters and images', { priced: { characters: 2, images: 1 } }, 2048],
    [
      'halves all but searches and requests',
      { priced: { seconds: 1, requests: 1, service_tier: 'batch' } },
      256,
    ],
    ['is unknown if units without a price were used', { other: { images: 1 } }, null],
    ['is that of tokens with a price', { priced: { prompt_tokens: 2 }, other: { prompt_tokens: 3 } }, 1],
    ['counts what a provider reported', { priced: {}, other: { prompt_tokens: 3, cost: 0.25 } }, 0.25],
    ['ignores a reported cost beside a price', { priced: { prompt_tokens: 2, cost: 9 } }, 1],
  ] as const)
    it(name, () => assert.deepEqual(costs(usage), [expected, expected]))

  it('has no units that a stored price of an earlier release lacks', () => {
    const latest = () => ['0.5', '2', '0', '0', '0', [], '16', '32', '64', '128'] as const
    const { models } = reportedUsageOf({ usage: { m: { seconds: 2, prompt_tokens: 4 } } })
    const amount = costOf({ latest }, { project_id: PROJECT, started_at: AT, models })
    assert.equal(numberFrom(amount!), 2)
  })

  it('is the same for automations and evaluations, for any usage', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('priced', 'other', 'another'), report), (usage) => {
        const [ofAutomations, ofEvaluations] = costs(usage)
        assert.equal(ofAutomations, ofEvaluations)
      }),
    )
  })
})
