import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { summaryUsage } from '../../../../../src/gateway/answer/usage.js'
import { readingOf } from '../../../../../src/domain/calls/usage/reading.js'
import { reportedUsageOf } from '../../../../../src/domain/calls/usage/reported.js'
import type { JsonObject } from '../../../../../src/kernel/json/json.js'
import { meteredWith } from '../../../../support/upstreams/metered.js'

/** Prompt, completion, total, read from a cache, written to one. */
type Figures = readonly [number, number, number, number, number]

const figuresOf = (report: JsonObject, includesCache = false): Figures => {
  const { prompt = 0, completion = 0, total, cacheRead, cacheCreation } = readingOf(report, { includesCache })
  return [prompt, completion, total || prompt + completion, cacheRead, cacheCreation]
}

const cached = (cache_read_input_tokens: number, cache_creation_input_tokens = 0) => ({
  cache_read_input_tokens,
  cache_creation_input_tokens,
})

const details = (cached_tokens: number) => ({ prompt_tokens_details: { cached_tokens } })

const CASES: readonly (readonly [what: string, report: JsonObject, figures: Figures])[] = [
  // The cache
  [
    'Anthropic with a large cache',
    { input_tokens: 5000, output_tokens: 100, ...cached(60_000, 1000) },
    [66_000, 100, 66_100, 60_000, 1000],
  ],
  [
    'Anthropic with a small cache',
    { input_tokens: 2000, output_tokens: 100, ...cached(1000, 200) },
    [3200, 100, 3300, 1000, 200],
  ],
  [
    'Anthropic with a total that includes the cache',
    { input_tokens: 2000, output_tokens: 100, ...cached(1000, 200), total_tokens: 3300 },
    [3200, 100, 3300, 1000, 200],
  ],
  [
    'MLflow, whose total shows that the input includes the cache',
    { input_tokens: 120, output_tokens: 30, total_tokens: 150, ...cached(80) },
    [120, 30, 150, 80, 0],
  ],
  [
    'Python weave with less input than cache, as its older versions',
    { requests: 1, input_tokens: 10, output_tokens: 2, ...cached(100, 20) },
    [130, 2, 132, 100, 20],
  ],
  [
    'a chat format with less prompt than cache',
    { prompt_tokens: 4, completion_tokens: 1, total_tokens: 5, ...details(6) },
    [10, 1, 11, 6, 0],
  ],
  [
    'a chat format without the writes',
    { prompt_tokens: 70, completion_tokens: 5, ...cached(60, 30) },
    [100, 5, 105, 60, 30],
  ],
  [
    'a chat format with the cache on top, as the total says',
    { prompt_tokens: 70, completion_tokens: 5, total_tokens: 165, ...cached(60, 30) },
    [160, 5, 165, 60, 30],
  ],
  [
    'Bedrock whose total includes no cache',
    { inputTokens: 100, outputTokens: 5, totalTokens: 105, cacheReadInputTokens: 60 },
    [100, 5, 105, 60, 0],
  ],
  [
    'AI SDK 5 with Anthropic',
    { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 60 },
    [70, 5, 75, 60, 0],
  ],
  [
    'LangChain with writes by lifetime',
    {
      input_tokens: 100,
      output_tokens: 5,
      input_token_details: {
        cache_creation: 0,
        ephemeral_5m_input_tokens: 20,
        ephemeral_1h_input_tokens: 30,
      },
    },
    [100, 5, 105, 0, 50],
  ],
  ['Langfuse buckets', { input: 100, output: 5, ...cached(60) }, [160, 5, 165, 60, 0]],
  ['Moonshot', { prompt_tokens: 100, completion_tokens: 5, cached_tokens: 60 }, [100, 5, 105, 60, 0]],
  [
    'DeepSeek without a sum',
    { prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40, completion_tokens: 5 },
    [100, 5, 105, 60, 0],
  ],
  // Reasoning
  [
    'reasoning larger than the completion',
    { prompt_tokens: 10, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 8 } },
    [10, 13, 23, 0, 0],
  ],
  [
    'AI SDK 5 with Gemini',
    { inputTokens: 10, outputTokens: 20, totalTokens: 60, reasoningTokens: 30 },
    [10, 50, 60, 0, 0],
  ],
  [
    'thoughts that the total includes in the completion',
    { prompt_tokens: 10, completion_tokens: 50, thoughts_tokens: 30, total_tokens: 60 },
    [10, 50, 60, 0, 0],
  ],
  // Two names
  [
    'two names of one figure without a total',
    { prompt_tokens: 100, input_tokens: 100, completion_tokens: 5, output_tokens: 5 },
    [100, 5, 105, 0, 0],
  ],
  [
    'equal figures of two reports',
    { prompt_tokens: 100, input_tokens: 100, completion_tokens: 5, output_tokens: 5, total_tokens: 210 },
    [200, 10, 210, 0, 0],
  ],
  [
    'two names, one without the cache',
    { prompt_tokens: 120, input_tokens: 20, completion_tokens: 5, output_tokens: 5, ...cached(100) },
    [120, 5, 125, 100, 0],
  ],
  [
    'different figures without a total',
    { prompt_tokens: 8, input_tokens: 2, completion_tokens: 3 },
    [10, 3, 13, 0, 0],
  ],
  ['one name that is 0', { prompt_tokens: 0, input_tokens: 7, output_tokens: 1 }, [7, 1, 8, 0, 0]],
  ['camel and snake case', { prompt_tokens: 7, promptTokens: 7, completionTokens: 1 }, [7, 1, 8, 0, 0]],
  // Wrapped
  [
    'LangChain around Gemini',
    { usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 1 } },
    [7, 1, 8, 0, 0],
  ],
  ['a response around its usage', { requests: 1, usage: { prompt_tokens: 7 } }, [7, 0, 7, 0, 0]],
  ['Cohere 1', { meta: { billed_units: { input_tokens: 7, output_tokens: 1 } } }, [7, 1, 8, 0, 0]],
  // Figures as objects
  [
    'a figure with its parts',
    { inputTokens: { total: 10, noCache: 6, cacheRead: 4 }, outputTokens: { total: 5, reasoning: 2 } },
    [10, 5, 15, 4, 0],
  ],
  ['a figure of parts alone', { inputTokens: { cacheRead: 4 }, outputTokens: { total: 5 } }, [4, 5, 9, 4, 0]],
  // Values
  ['numeric strings', { prompt_tokens: '7', completion_tokens: ' 1 ' }, [7, 1, 8, 0, 0]],
  ['fractions', { prompt_tokens: 7.9, completion_tokens: 1.1 }, [7, 1, 8, 0, 0]],
  ['null', { prompt_tokens: 7, completion_tokens: null, total_tokens: null }, [7, 0, 7, 0, 0]],
  ['a figure below 0', { prompt_tokens: -7, completion_tokens: 1 }, [0, 1, 1, 0, 0]],
  ['an absurd figure', { prompt_tokens: 1e300 }, [2 ** 53, 0, 2 ** 53, 0, 0]],
]

const NOTHING_SAVED = { cache_hits: 0, saved_tokens: 0, saved_cost: 0 }

describe('a report of usage', () => {
  for (const [what, report, figures] of CASES)
    it(`is read as it is meant: ${what}`, () => assert.deepEqual(figuresOf(report), figures))

  it("includes the cache in Python weave's input, and excludes it from that of npm weave", () => {
    const sent = { requests: 1, input_tokens: 130, output_tokens: 2, ...cached(100, 20) }
    assert.deepEqual(figuresOf(sent, true), [130, 2, 132, 100, 20])
    assert.deepEqual(figuresOf(sent, false), [250, 2, 252, 100, 20])
    const status_counts = { success: 1, error: 0 }
    const prompt = (summary: JsonObject) => reportedUsageOf(summary).models[0]?.prompt_tokens
    assert.deepEqual(
      [prompt({ usage: { m: sent }, status_counts }), prompt({ usage: { m: sent } })],
      [130, 250],
    )
  })

  it('has the figures that the documentation says of each example', async () => {
    const text = await readFile('docs/usage.md', 'utf8')
    const rows = [...text.matchAll(/^\| [^|]+\| `(\{.*?\})` +\|([\d |]+)\|/gm)]
    assert.ok(rows.length > 20)
    for (const [, example, figures] of rows)
      assert.deepEqual(
        figuresOf(JSON.parse(example!) as JsonObject, example!.includes('"requests"')),
        figures!.split('|').slice(0, 5).map(Number),
        example,
      )
  })

  for (const [report, isUnrecognized] of [
    [{ prompt_tokens: 7 }, false],
    [{ prompt_tokens: 0, completion_tokens: 0 }, false],
    [{ prompt_tokens: 7, service_tier: 'default', audio_tokens: 3 }, false],
    [{ requests: 1 }, false],
    [{}, false],
    [{ prompt_tokens: null }, false],
    [{ tokens_in: 7, tokens_out: 1 }, true],
    [{ requests: 1, characters: 700 }, false],
    [{ requests: 1, pages: 700 }, true],
    [{ prompt_tokens: '7 tokens' }, true],
    [{ prompt_tokens: 7, completion_tokens: '1e3' }, true],
    [{ prompt_tokens: -7 }, true],
    [{ total_tokens: 7 }, true],
    [{ prompt_tokens: 7, completion_tokens: 1, total_tokens: 100 }, true],
    [{ prompt_tokens: 7, cost: 'much' }, true],
    [{ usage: { tokens_in: 7 } }, true],
    [{ prompt_tokens: 7, answer_tokens: 3 }, true],
    [{ prompt_tokens: 7, answer_tokens: 0 }, false],
    [{ prompt_tokens: 7, completion_tokens: 3, total_tokens: 10, citation_tokens: 2 }, false],
    [{ inputTokens: { total: 'many' } }, true],
    [{ prompt_tokens: 7, service_tier: 'scale' }, true],
    [{ prompt_tokens: 7, service_tier: 'batch' }, false],
    [{ prompt_tokens: 7, service_tier: 'batch', speed: 'fast' }, true],
    [{ prompt_tokens: 7, service_tier: 'standard' }, false],
    [{ prompt_tokens: 7, service_tier: null }, false],
    [{ prompt_tokens: 7, speed: 'fast' }, false],
    [{ prompt_tokens: 7, speed: 'turbo' }, true],
    [{ billed_units: { search_units: 1 } }, false],
    [{ prompt_tokens: 7, inference_geo: 'us' }, true],
    [{ prompt_tokens: 7, inference_geo: 'not_available' }, false],
    [{ prompt_tokens: 7, server_tool_use: { web_search_requests: 3 } }, false],
    [{ prompt_tokens: 7, server_tool_use: { web_search_requests: 3, code_execution_requests: 1 } }, true],
    [{ prompt_tokens: 7, server_tool_use: { web_search_requests: 0, web_fetch_requests: 2 } }, false],
    [{ prompt_tokens: 7, server_tool_use: null }, false],
    [{ prompt_tokens: 7, num_search_queries: 2 }, false],
    [{ prompt_tokens: 7, prompt_tokens_details: { audio_tokens: 3, cached_tokens: 0 } }, false],
    [{ prompt_tokens: 7, prompt_tokens_details: { audio_tokens: 0, cached_tokens: 0 } }, false],
    [{ prompt_tokens: 7, completion_tokens_details: { audio_tokens: 3 } }, false],
    [{ prompt_tokens: 7, prompt_tokens_details: { audio_tokens: 'many' } }, true],
    [{ input_tokens: 7, input_token_details: { audio: 3 } }, false],
    [{ input_tokens: 7, output_tokens_details: { image_tokens: 3 } }, true],
    [{ promptTokenCount: 7, promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 3 }] }, false],
    [{ promptTokenCount: 7, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 7 }] }, false],
    [{ input_tokens: 7, cache_creation: { ephemeral_24h_input_tokens: 3 } }, true],
    [{ input_tokens: 7, cache_creation: { ephemeral_5m_input_tokens: 3 } }, false],
    [{ usage: { input_tokens: 7, service_tier: 'scale' } }, true],
    [{ prompt_tokens: 7, constructor: 'x', toString: { a: 1 } }, false],
  ] as const)
    it(`is ${isUnrecognized ? 'not ' : ''}understood: ${JSON.stringify(report)}`, () =>
      assert.equal(readingOf(report).isUnrecognized, isUnrecognized))

  for (const [report, audioIn, audioOut, searches] of [
    [{ prompt_tokens: 7, prompt_tokens_details: { audio_tokens: 3, text_tokens: 4 } }, 3, 0, 0],
    [{ completion_tokens: 7, completion_tokens_details: { audio_tokens: 3 } }, 0, 3, 0],
    [
      { input_tokens: 7, inputTokensDetails: { audioTokens: 3 }, outputTokensDetails: { audioTokens: 2 } },
      3,
      2,
      0,
    ],
    [{ input_tokens: 7, input_token_details: { audio: 3 }, output_token_details: { audio: 2 } }, 3, 2, 0],
    [
      {
        promptTokenCount: 7,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 4 },
          { modality: 'AUDIO', tokenCount: 3 },
        ],
        candidatesTokensDetails: [{ modality: 'AUDIO', token_count: 2 }],
      },
      3,
      2,
      0,
    ],
    [{ usage: { input_tokens: 7, server_tool_use: { web_search_requests: 3 } } }, 0, 0, 3],
    [{ input_tokens: 7, serverToolUse: { webSearchRequests: 3 } }, 0, 0, 3],
    [{ prompt_tokens: 7, num_search_queries: 2 }, 0, 0, 2],
    [{ billed_units: { search_units: 2 } }, 0, 0, 2],
  ] as const)
    it(`has audio and searches: ${JSON.stringify(report)}`, () => {
      const { extras, isUnrecognized } = readingOf(report)
      const { prompt_audio_tokens, completion_audio_tokens, web_search_requests } = extras
      const read = [prompt_audio_tokens, completion_audio_tokens, web_search_requests]
      assert.deepEqual(read, [audioIn, audioOut, searches])
      assert.equal(isUnrecognized, false)
    })

  for (const [report, expected] of [
    [{ type: 'duration', seconds: 8.4 }, [9, 0, 0]],
    [{ usage: { type: 'duration', seconds: 8 } }, [8, 0, 0]],
    [{ prompt_tokens: 7, prompt_audio_seconds: 5 }, [5, 0, 0]],
    [{ requests: 1, characters: 12, model: 'tts' }, [0, 12, 0]],
    [{ billed_units: { images: 2 } }, [0, 0, 2]],
    [{ imageCount: 3 }, [0, 0, 3]],
    [{ images: '2', seconds: 0, characters: null }, [0, 0, 2]],
  ] as const)
    it(`has seconds, characters and images: ${JSON.stringify(report)}`, () => {
      const { extras, isUnrecognized } = readingOf(report)
      assert.deepEqual([extras.seconds, extras.characters, extras.images], expected)
      assert.equal(isUnrecognized, false)
    })

  for (const [report, tier] of [
    [{ prompt_tokens: 7, service_tier: 'batch' }, 'batch'],
    [{ prompt_tokens: 7, serviceTier: 'Priority' }, 'priority'],
    [{ usage: { input_tokens: 7, service_tier: 'flex' } }, 'flex'],
    [{ prompt_tokens: 7, service_tier: 'standard' }, undefined],
    [{ prompt_tokens: 7, service_tier: 'scale' }, undefined],
    [{ prompt_tokens: 7, service_tier: 'standard', speed: 'fast' }, 'fast'],
    [{ prompt_tokens: 7, service_tier: 'batch', speed: 'fast' }, 'batch'],
    [{ prompt_tokens: 7, service_tier: null }, undefined],
  ] as const)
    it(`has the tier of service ${tier}: ${JSON.stringify(report)}`, () =>
      assert.equal(readingOf(report).serviceTier, tier))

  for (const [report, hour] of [
    [
      { input_tokens: 1, cache_creation_input_tokens: 9, cache_creation: { ephemeral_1h_input_tokens: 4 } },
      4,
    ],
    [
      {
        inputTokens: 1,
        cacheWriteInputTokens: 9,
        cacheDetails: [{ ttl: '1h', inputTokens: 4 }, { ttl: '5m' }],
      },
      4,
    ],
    [
      {
        prompt_tokens: 9,
        prompt_tokens_details: { cache_creation_token_details: { ephemeral_1h_input_tokens: 4 } },
      },
      4,
    ],
    [{ input_tokens: 1, cache_creation_input_tokens: 9 }, 0],
  ] as const)
    it(`has the tokens that are cached for an hour: ${JSON.stringify(report)}`, () =>
      assert.equal(readingOf(report).cacheCreation1h, hour))

  for (const [cost, units] of [
    [{ cost: 0.0042 }, 4_200_000],
    [{ cost: '0.0042' }, 4_200_000],
    [{ cost: { total_cost: 0.0042, request_cost: 0.001 } }, 4_200_000],
    [{ response_cost: 1.2e-4 }, 120_000],
    [{ total_cost_usd: 12_345.67 }, 12_345_670_000_000],
    [{ cost: -1 }, 0],
    [{ cost: null }, 0],
  ] as const)
    it(`has the cost that the provider reports: ${JSON.stringify(cost)}`, () =>
      assert.equal(readingOf(cost).cost, units))

  const count = fc.nat(50)
  const NAMES = [
    'prompt_tokens',
    'input_tokens',
    'completion_tokens',
    'output_tokens',
    'total_tokens',
    'cache_read_input_tokens',
    'cache_creation_input_tokens',
    'reasoning_tokens',
    'thoughts_tokens',
    'requests',
  ]
  const report = fc.dictionary(fc.constantFrom(...NAMES), count)

  it('is the same for the sum of reports as for its parts', () => {
    const add = (a: JsonObject, b: JsonObject): JsonObject =>
      Object.fromEntries(
        [...new Set([...Object.keys(a), ...Object.keys(b)])].map((name) => {
          const [x = 0, y = 0] = [a[name], b[name]]
          return [
            name,
            typeof x === 'object' ? add(x as JsonObject, (y || {}) as JsonObject) : Number(x) + Number(y),
          ]
        }),
      )
    const some = fc.tuple(count, count, count)
    const forms: readonly ((a: number, b: number, c: number) => JsonObject)[] = [
      (a, b, c) => ({ input_tokens: a, output_tokens: b, ...cached(c, a) }),
      (a, b, c) => ({ requests: 1, input_tokens: a + c, output_tokens: b, ...cached(c) }),
      (a, b, c) => ({ prompt_tokens: a + c, completion_tokens: b, total_tokens: a + b + c, ...details(c) }),
      (a, b, c) => ({ inputTokens: a, outputTokens: b, totalTokens: a + b + c, cacheReadInputTokens: c }),
      (a, b, c) => ({ promptTokenCount: a, candidatesTokenCount: b, thoughtsTokenCount: c }),
    ]
    for (const form of forms)
      for (const hasStatusCounts of [false, true])
        fc.assert(
          fc.property(some, some, (one, other) => {
            const [a, b] = [form(...one), form(...other)]
            const [ofA, ofB, ofSum] = [a, b, add(a, b)].map((report) => figuresOf(report, hasStatusCounts))
            assert.deepEqual(
              ofSum,
              ofA!.map((figure, k) => figure + ofB![k]!),
            )
          }),
        )
  })

  it('never has more cached tokens than tokens of the prompt', () =>
    fc.assert(
      fc.property(report, (members) => {
        const [prompt, , , read, written] = figuresOf(members)
        assert.ok(read + written <= prompt)
      }),
    ))

  it('is read again from the record of a completion as it was', () =>
    fc.assert(
      fc.property(report, (members) => {
        const { usage, metering } = meteredWith(members)
        if (usage === null || metering !== 'reported') return
        const [read] = reportedUsageOf(summaryUsage('m', usage)).models
        assert.deepEqual(read, { model: 'm', requests: 1, ...usage, unrecognized_usage: 0, ...NOTHING_SAVED })
      }),
    ))
})
