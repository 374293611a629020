import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { FREE, priceNames } from '../../../../src/domain/prices/names.js'

describe('the names of the price of a model', () => {
  for (const [model, name] of [
    ['openai/gpt-4o', 'gpt-4o'],
    ['azure/gpt-4o', 'gpt-4o'],
    ['azure/eu/gpt-4o', 'gpt-4o'],
    ['openai:gpt-4o', 'gpt-4o'],
    ['azure_openai:gpt-4o', 'gpt-4o'],
    ['google_genai:gemini-2.0-flash', 'gemini-2.0-flash'],
    ['bedrock:us.anthropic.claude-sonnet-4-20250514-v1:0', 'claude-sonnet-4-20250514'],
    ['openai:gpt-4o:nitro', 'gpt-4o'],
    ['gpt-4o-2025-01-01', 'gpt-4o'],
    ['GPT-4o', 'gpt-4o'],
    ['gpt-35-turbo', 'gpt-3.5-turbo'],
    ['openrouter/openai/gpt-4o:nitro', 'gpt-4o'],
    ['anthropic/claude-sonnet-4-20250514', 'claude-sonnet-4-20250514'],
    ['anthropic/claude-sonnet-4-20260101', 'claude-sonnet-4'],
    ['anthropic/claude-3.5-sonnet', 'claude-3-5-sonnet'],
    ['anthropic/claude-opus-4.1:beta', 'claude-opus-4-1'],
    ['claude-3-7-sonnet-latest', 'claude-3-7-sonnet'],
    ['claude-sonnet-4@20250514', 'claude-sonnet-4-20250514'],
    ['claude-sonnet-4@default', 'claude-sonnet-4'],
    ['us.anthropic.claude-sonnet-4-20250514-v1:0', 'claude-sonnet-4-20250514'],
    ['bedrock/eu.anthropic.claude-3-haiku-20240307-v1:0:48k', 'claude-3-haiku-20240307'],
    ['anthropic.claude-opus-4-1-v1', 'claude-opus-4-1'],
    ['arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0', 'claude-3-haiku'],
    ['models/gemini-2.0-flash', 'gemini-2.0-flash'],
    ['gemini-2.0-flash-002', 'gemini-2.0-flash'],
    ['projects/p/locations/l/publishers/google/models/gemini-2.0-flash', 'gemini-2.0-flash'],
    ['gpt-4o:free', FREE],
    ['openai/gpt-4o:free', FREE],
  ] as const)
    it(`are one of the default list for ${model}`, async () => {
      const names = priceNames(model)
      assert.equal(names[0], model)
      const { prices } = JSON.parse(await readFile('src/prices/default.json', 'utf8')) as {
        prices: readonly { llm_id: string }[]
      }
      const listed = new Set(prices.map(({ llm_id }) => llm_id))
      assert.equal(
        names.find((one) => listed.has(one)),
        model.startsWith('arn:') ? 'claude-3-haiku-20240307' : name,
      )
    })

  for (const [model, other] of [
    ['ft:gpt-4o:acme::1', 'gpt-4o'],
    ['my-model-v2', 'my-model'],
    ['my-model-002', 'my-model'],
    ['gpt-4o-mini', 'gpt-4o'],
    ['gpt-4-0613', 'gpt-4'],
    ['llama3:70b', 'llama3'],
  ] as const)
    it(`of ${model} are not that of ${other}, which is another model`, () =>
      assert.ok(!priceNames(model).includes(other)))

  for (const [model, fragments] of [
    ['us.anthropic.claude-sonnet-4-20250514-v1:0', ['0']],
    ['gpt-4o:nitro', ['nitro']],
    ['claude-sonnet-4:thinking', ['thinking']],
    ['llama3:70b', ['70b', 'llama3']],
    ['mistral:latest', ['latest', 'mistral']],
    ['mistral:7b', ['7b', 'mistral']],
    ['gemma:instruct', ['instruct']],
    ['acme/llama3:70b', ['70b']],
    ['ollama:llama3:70b', ['70b', 'llama3']],
    ['my-model:1.5', ['1.5', 'my-model']],
    ['projects/p/endpoints/1234567', ['1234567']],
    ['acme/model/latest', ['latest']],
  ] as const)
    it(`of ${model} are none of its fragments`, () =>
      assert.deepEqual(
        priceNames(model).filter((name) => (fragments as readonly string[]).includes(name)),
        [],
      ))

  it('of a model of Mistral are without its scheme, and those of an Ollama tag are not', () => {
    assert.ok(priceNames('mistral:mistral-large-latest').includes('mistral-large-latest'))
    assert.ok(priceNames('mistral:open-mixtral-8x7b').includes('open-mixtral-8x7b'))
    assert.deepEqual(priceNames('0'), ['0'])
  })

  it('begin with the name itself, and are few, whatever it is', () =>
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '1', '-', '/', ':', '.', '@', 'v') }), (model) => {
        const names = priceNames(model)
        assert.equal(names[0], model)
        assert.ok(names.length < 100)
        assert.equal(new Set(names).size, names.length)
      }),
    ))
})
