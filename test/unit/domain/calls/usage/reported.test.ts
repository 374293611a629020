import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { figureOf } from '../../../../../src/domain/calls/usage/figure.js'
import { FIGURES, reportedUsage, reportedUsageOf } from '../../../../../src/domain/calls/usage/reported.js'
import type { Json, JsonObject } from '../../../../../src/kernel/json/json.js'

const LARGEST = 2 ** 53

describe('a figure', () => {
  const cases: readonly (readonly [Json | undefined, number])[] = [
    [0, 0],
    [-0, 0],
    [7, 7],
    [-7, -7],
    [3.9, 3],
    [-3.9, -3],
    [0.5, 0],
    [true, 1],
    [false, 0],
    [null, 0],
    [undefined, 0],
    ['12', 12],
    [' 12\n', 12],
    ['+12', 12],
    ['-12', -12],
    ['0012', 12],
    ['-0', 0],
    ['12.5', 0],
    ['1e3', 0],
    ['0x10', 0],
    ['1_000', 0],
    ['1,000', 0],
    ['12 tokens', 0],
    ['- 12', 0],
    ['--12', 0],
    ['', 0],
    [' ', 0],
    ['Infinity', 0],
    ['NaN', 0],
    ['１２', 0],
    [[12], 0],
    [{ value: 12 }, 0],
    [LARGEST, LARGEST],
    [LARGEST + 2, LARGEST],
    [-LARGEST - 2, -LARGEST],
    [1e300, LARGEST],
    [Infinity, LARGEST],
    [-Infinity, -LARGEST],
    ['9'.repeat(400), LARGEST],
    [`-${'9'.repeat(400)}`, -LARGEST],
  ]
  for (const [value, figure] of cases)
    it(`is ${figure} for ${inspect(value, { maxStringLength: 20 })}`, () =>
      assert.ok(Object.is(figureOf(value), figure)))

  it('is a whole number within 2^53, whatever is written', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const figure = figureOf(value as Json)
        assert.ok(Number.isInteger(figure) && Math.abs(figure) <= LARGEST && !Object.is(figure, -0))
      }),
    )
  })

  it('takes no time to be read from a long text', () => {
    assert.equal(figureOf(`${' '.repeat(5_000_000)}x`), 0)
    assert.equal(figureOf(`${'1'.repeat(5_000_000)}x`), 0)
  })
})

const summaryOf = (text: string): JsonObject => JSON.parse(text) as JsonObject

describe('the usage that a summary reports', () => {
  it('is nothing for an answer of the cache, whatever the output that it repeats used', () => {
    const search = { type: 'web_search_call', status: 'completed' }
    const summary = { usage: { m: { cache_hits: 1, saved_tokens: 12, saved_cost: null } } }
    for (const usage of [{}, { input_tokens: 10, output_tokens: 2 }]) {
      const [read] = reportedUsageOf(summary, { output: { usage, output: [search] } }).models
      const used = Object.entries(read!).filter(([figure, count]) => figure !== 'model' && count !== 0)
      assert.deepEqual(used, [
        ['cache_hits', 1],
        ['saved_tokens', 12],
      ])
    }
  })

  it('has each model with all its figures', () => {
    const figures = {
      requests: 1,
      prompt_tokens: 20,
      completion_tokens: 3,
      total_tokens: 23,
      cache_read_input_tokens: 5,
      cache_creation_input_tokens: 6,
    }
    const more = {
      cache_creation: { ephemeral_1h_input_tokens: 4 },
      prompt_tokens_details: { audio_tokens: 8 },
      completion_tokens_details: { audio_tokens: 2 },
      server_tool_use: { web_search_requests: 9 },
      cost: 0.0042,
      ...{ seconds: 6, characters: 7, images: 8 },
      cache_hits: 2,
      saved_tokens: 12,
      saved_cost: '0.000000000007',
    }
    const read = {
      cache_creation_1h_input_tokens: 4,
      prompt_audio_tokens: 8,
      completion_audio_tokens: 2,
      web_search_requests: 9,
      ...{ seconds: 6, characters: 7, images: 8 },
      reported_cost: 4_200_000,
      unrecognized_usage: 0,
      cache_hits: 2,
      saved_tokens: 12,
      saved_cost: 7,
    }
    assert.deepEqual(reportedUsageOf({ usage: { m: { ...figures, ...more, other: 1 }, n: {} } }), {
      models: [
        { model: 'm', ...figures, ...read },
        { model: 'n', ...Object.fromEntries(FIGURES.map((figure) => [figure, 0])) },
      ],
      status_total: null,
      response_id: null,
    })
  })

  for (const [names, read, creation] of [
    [{ cache_read_input_tokens: 5, cache_creation_input_tokens: 7 }, 5, 7],
    [{ cache_write_input_tokens: 7 }, 0, 7],
    [{ prompt_tokens_details: { cached_tokens: 5 } }, 5, 0],
    [{ input_tokens_details: { cached_tokens: 5 } }, 5, 0],
    [{ prompt_tokens_details: { cached_tokens: 5, cache_creation_tokens: 7 } }, 5, 7],
    [{ prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 7 } }, 5, 7],
    [{ cacheReadInputTokens: 5, cacheWriteInputTokens: '7' }, 5, 7],
    [{ prompt_cache_hit_tokens: 5 }, 5, 0],
    [{ cache_read_input_tokens: 0, prompt_tokens_details: { cached_tokens: 5 } }, 5, 0],
    [{ prompt_tokens_details: [5], cacheWriteInputTokens: {} }, 0, 0],
  ] as const)
    it(`reads cached tokens under the names ${JSON.stringify(names)}`, () => {
      const [model] = reportedUsageOf({ usage: { m: names } }).models
      assert.equal(model?.cache_read_input_tokens, read)
      assert.equal(model.cache_creation_input_tokens, creation)
    })

  it('never adds up two names of the same tokens', () => {
    const both = {
      cache_read_input_tokens: 5,
      cache_creation_input_tokens: 7,
      prompt_tokens_details: { cached_tokens: 5, cache_creation_tokens: 7 },
    }
    const [model] = reportedUsageOf({ usage: { m: both } }).models
    assert.deepEqual([model?.cache_read_input_tokens, model?.cache_creation_input_tokens], [5, 7])
  })

  for (const usage of ['null', '[]', '"oops"', '7', 'true', '{}', '[{"m": {}}]'])
    it(`is none where usage is ${usage}`, () =>
      assert.deepEqual(reportedUsageOf(summaryOf(`{"usage": ${usage}}`)).models, []))

  it('has a model without figures where its entry is no object', () => {
    const { models } = reportedUsageOf(
      summaryOf('{"usage": {"a": "oops", "b": {"requests": 1}, "c": null, "d": [7]}}'),
    )
    assert.deepEqual(
      models.map(({ model, requests, total_tokens }) => [model, requests, total_tokens]),
      [
        ['a', 0, 0],
        ['b', 1, 0],
        ['c', 0, 0],
        ['d', 0, 0],
      ],
    )
  })

  it('knows a model by any name', () => {
    const { models } = reportedUsageOf(
      summaryOf(
        '{"usage": {"__proto__": {"requests": 1}, "constructor": {"requests": 2}, "": {"requests": 3}}}',
      ),
    )
    assert.deepEqual(
      models.map(({ model, requests }) => [model, requests]),
      [
        ['__proto__', 1],
        ['constructor', 2],
        ['', 3],
      ],
    )
  })

  for (const [counts, total] of [
    ['{"success": 2, "error": 1}', 3],
    ['{"success": "2", "other": true, "odd": {}}', 3],
    ['{}', 0],
    ['[1, 2]', null],
    ['null', null],
    ['3', null],
    ['{"a": 1e300, "b": -1e300}', 0],
    ['{"a": 1e300, "b": 1e300}', LARGEST],
  ] as const)
    it(`counts ${total} for the status counts ${counts}`, () =>
      assert.equal(reportedUsageOf(summaryOf(`{"status_counts": ${counts}}`)).status_total, total))

  it('is what its codec reads back, of any summary', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (usage, status_counts) => {
        const reported = reportedUsageOf({ usage, status_counts } as JsonObject)
        const decoded = reportedUsage.decode(JSON.parse(JSON.stringify(reported)))
        assert.ok(decoded._tag === 'Right')
        assert.deepEqual(decoded.right, reported)
      }),
    )
  })
})
