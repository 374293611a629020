import { deepStrictEqual } from 'node:assert/strict'
import { reportedUsageOf } from '../../../../src/domain/calls/usage/reported.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { meaning } from './arbitrary.js'

/** The figures that a call with these attributes is recorded with. */
const figures = (attributes: JsonObject) => {
  const { usage, model } = meaning(attributes)
  const [read] = usage === null ? [] : reportedUsageOf({ usage: { [model!]: usage } }).models
  return (
    read && {
      prompt: read.prompt_tokens,
      completion: read.completion_tokens,
      total: read.total_tokens,
      read: read.cache_read_input_tokens,
      created: read.cache_creation_input_tokens,
      cost: read.reported_cost / 1e9,
      requests: read.requests,
      unrecognized: read.unrecognized_usage,
    }
  )
}

const NONE = { read: 0, created: 0, cost: 0, requests: 1, unrecognized: 0 }

describe('the usage of a span', () => {
  it('has a prompt that includes the cache', () => {
    const attributes = {
      'gen_ai.usage.input_tokens': 2224,
      'gen_ai.usage.output_tokens': 10,
      'gen_ai.usage.cache_read.input_tokens': 2048,
    }
    deepStrictEqual(figures(attributes), { ...NONE, prompt: 2224, completion: 10, total: 2234, read: 2048 })
  })

  it('adds a cache that is more than the input', () => {
    const attributes = {
      'gen_ai.usage.input_tokens': 30,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 100_000,
    }
    deepStrictEqual(figures(attributes), {
      ...NONE,
      prompt: 100_030,
      completion: 5,
      total: 100_035,
      read: 100_000,
    })
  })

  it('adds reads and writes of the cache that together are more than the input', () => {
    const attributes = {
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 60,
      'gen_ai.usage.cache_creation.input_tokens': 60,
    }
    const { prompt, read, created } = figures(attributes)!
    deepStrictEqual({ prompt, read, created }, { prompt: 220, read: 60, created: 60 })
  })

  it('adds the cache where the total does', () => {
    const { prompt, total } = figures({
      'ai.usage.inputTokens': 100,
      'ai.usage.outputTokens': 10,
      'ai.usage.cachedInputTokens': 80,
      'ai.usage.totalTokens': 190,
    })!
    deepStrictEqual({ prompt, total }, { prompt: 180, total: 190 })
  })

  it('does not add the reasoning to the output', () => {
    const attributes = {
      'gen_ai.usage.input_tokens': 5,
      'gen_ai.usage.output_tokens': 1970,
      'gen_ai.usage.reasoning.output_tokens': 956,
    }
    deepStrictEqual(figures(attributes), { ...NONE, prompt: 5, completion: 1970, total: 1975 })
  })

  it('counts two names of one figure once', () => {
    const attributes = { 'gen_ai.usage.prompt_tokens': 120, 'gen_ai.usage.input_tokens': 120 }
    deepStrictEqual(figures(attributes), { ...NONE, prompt: 120, completion: 0, total: 0 })
  })

  for (const value of [120, '120', '120.0', ' 120 '])
    it(`reads ${JSON.stringify(value)}`, () => {
      deepStrictEqual(meaning({ 'gen_ai.usage.input_tokens': value }).usage?.['prompt_tokens'], 120)
    })

  for (const value of ['abc', '', 'NaN', 'Infinity', -1, '-1', true, [1], { value: 1 }, null])
    it(`is none for ${JSON.stringify(value)}`, () => {
      deepStrictEqual(meaning({ 'gen_ai.usage.input_tokens': value }).usage, null)
    })

  it('keeps a figure of 0', () => {
    const attributes = { 'gen_ai.usage.input_tokens': 0, 'llm.token_count.prompt': 7 }
    deepStrictEqual(figures(attributes), { ...NONE, prompt: 0, completion: 0, total: 0 })
  })

  it('takes each figure from the first convention that reports it', () => {
    const attributes = {
      'gen_ai.usage.input_tokens': 120,
      'llm.token_count.prompt': 999,
      'llm.token_count.completion': 30,
      'ai.usage.cachedInputTokens': 80,
    }
    deepStrictEqual(figures(attributes), { ...NONE, prompt: 120, completion: 30, total: 150, read: 80 })
  })

  it('adds the cache to the buckets of Langfuse, not to the report of a provider', () => {
    const buckets = '{"input": 10, "output": 4, "cache_read_input_tokens": 6}'
    deepStrictEqual(figures({ 'langfuse.observation.usage_details': buckets }), {
      ...NONE,
      prompt: 16,
      completion: 4,
      total: 20,
      read: 6,
    })
    const report =
      '{"prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 6}}'
    deepStrictEqual(figures({ 'langfuse.observation.usage_details': report }), {
      ...NONE,
      prompt: 10,
      completion: 4,
      total: 14,
      read: 6,
    })
  })

  it('adds the cache to the figures of Claude Code', () => {
    const attributes = {
      'span.type': 'claude_code.llm_request',
      input_tokens: 100,
      output_tokens: 7,
      cache_read_tokens: 50,
      cache_creation_tokens: 20,
    }
    deepStrictEqual(figures(attributes), {
      ...NONE,
      prompt: 170,
      completion: 7,
      total: 177,
      read: 50,
      created: 20,
    })
  })

  it('reads details that are written as Python does', () => {
    const attributes = {
      'gen_ai.usage.input_tokens': 120,
      'gen_ai.usage.output_tokens': 30,
      'gen_ai.usage.input_token_details': "{'audio': 0, 'cache_read': 80}",
    }
    deepStrictEqual(figures(attributes), { ...NONE, prompt: 120, completion: 30, total: 150, read: 80 })
  })

  it('does not take sums of an agent for its own', () => {
    deepStrictEqual(meaning({ 'gen_ai.aggregated_usage.input_tokens': 240 }).usage, null)
  })

  it('is none of a stored response that is fetched again', () => {
    const attributes = { 'gen_ai.operation.name': 'fetch_response', 'gen_ai.usage.input_tokens': 5 }
    deepStrictEqual(meaning(attributes).usage, null)
  })

  it('can be a total or a cost alone', () => {
    deepStrictEqual(meaning({ 'llm.token_count.total': 9 }).usage, { requests: 1, total_tokens: 9 })
    deepStrictEqual(meaning({ 'gen_ai.usage.cost': 0.25 }).usage, { requests: 1, cost: 0.25 })
    deepStrictEqual(meaning({ 'gen_ai.usage.cost': 0.25 }).model, 'unknown')
  })

  it('has the reported cost of each convention', () => {
    const costs: readonly JsonObject[] = [
      { 'langfuse.observation.cost_details': '{"input": 0.1, "output": 0.15}' },
      { 'langfuse.observation.cost_details': '{"input": 0.1, "output": 0.2, "total": 0.25}' },
      { 'gen_ai.usage.cost': '0.25' },
      { 'llm.cost.total': 0.25, 'llm.cost.prompt': 0.2 },
      { 'llm.cost.prompt': 0.05, 'llm.cost.completion': 0.2 },
      { 'operation.cost': 0.25 },
      { 'mlflow.llm.cost': '{"input_cost": 0.05, "output_cost": 0.2, "total_cost": 0.25}' },
    ]
    for (const attributes of costs) deepStrictEqual(figures(attributes)?.cost, 0.25)
  })
})
