import assert from 'node:assert/strict'
import fc from 'fast-check'
import { baseState, type ModelState } from '../../../src/engine/checkpoint.js'
import { PromptTooLong, SequenceInvalid, TrainingDiverged } from '../../../src/engine/errors.js'
import { randomNumbers, seedOfChoice } from '../../../src/engine/random.js'
import { sample, type SamplingOptions } from '../../../src/engine/sample.js'
import { BASE_MODELS, weightSections } from '../../../src/engine/shape.js'
import { END_OF_TEXT, VOCABULARY } from '../../../src/engine/tokens.js'
import { createTrainer } from '../../../src/engine/trainer.js'

const OPTIONS: SamplingOptions = { temperature: 1, topP: 1, seed: 1, maxTokens: 20 }

/** A model that prefers some tokens clearly: the head of a new one has small weights. */
const sharpState = (baseModel = 'tiny/byte'): ModelState => {
  const state = baseState(baseModel, 11)
  const { start } = weightSections(BASE_MODELS[baseModel]!).at(-1)!
  return { ...state, weights: state.weights.map((weight, index) => (index < start ? weight : weight * 20)) }
}

const arbitraryPrompt = (length: number, seed = 1): readonly number[] =>
  Array.from({ length }, (_, index) => (index * 7919 + seed * 104_729) % 256)

const tokensOf = (state: ModelState, prompt: readonly number[], options: Partial<SamplingOptions> = {}) =>
  [...sample(state, prompt, { ...OPTIONS, ...options })].map(({ token }) => token)

describe('sampling', () => {
  const state = sharpState()

  for (const baseModel of Object.keys(BASE_MODELS))
    it(`returns the logprobs that training computes, for ${baseModel}`, () => {
      const sharp = sharpState(baseModel)
      for (const length of [1, 7, 64, 150]) {
        const prompt = arbitraryPrompt(length)
        const options = { ...OPTIONS, temperature: 1.3, topP: 0.9, maxTokens: 70 }
        const sampled = [...sample(sharp, prompt, options)]
        const tokens = [...prompt, ...sampled.map(({ token }) => token)]
        const mask = tokens.map((_, index) => index >= length)
        createTrainer(sharp).evaluate([{ tokens, mask }], (_, { logprobs }) => {
          assert.equal(logprobs.length, sampled.length)
          for (const [index, { logprob }] of sampled.entries())
            assert.ok(Math.abs(logprob - logprobs[index]!) < 1e-4)
        })
      }
    })

  it('returns equal tokens for equal seeds only', () => {
    const prompt = arbitraryPrompt(5)
    assert.deepEqual(tokensOf(state, prompt), tokensOf(state, prompt))
    assert.notDeepEqual(tokensOf(state, prompt), tokensOf(state, prompt, { seed: 2 }))
  })

  it('is independent of sequences sampled in between', () => {
    const alone = arbitraryPrompt(3, 5)
    const generators = Array.from({ length: 20 }, (_, index) =>
      sample(state, arbitraryPrompt(3 + (index % 4), 5), { ...OPTIONS, seed: index }),
    )
    const tokens: number[][] = generators.map(() => [])
    for (let step = 0; step < OPTIONS.maxTokens; step += 1)
      for (const [index, generator] of generators.entries()) {
        const { value } = generator.next()
        if (value !== undefined) tokens[index]!.push(value.token)
      }
    assert.deepEqual(tokens[0], tokensOf(state, alone, { seed: 0 }))
    assert.deepEqual(tokens[16], tokensOf(state, alone, { seed: 16 }))
  })

  it('takes the most probable token at temperature 0 and with a small top-p', () => {
    const prompt = arbitraryPrompt(9)
    const greedy = tokensOf(state, prompt, { temperature: 0 })
    assert.deepEqual(greedy, tokensOf(state, prompt, { temperature: 0, seed: 2 }))
    assert.deepEqual(greedy, tokensOf(state, prompt, { topP: 1e-9 }))
    assert.deepEqual(greedy, tokensOf(state, prompt, { temperature: 1e-3 }))
  })

  it('samples tokens as often as their probability, cut at top-p', () => {
    const prompt = arbitraryPrompt(4)
    const count = 2000
    const frequency = new Map<number, number>()
    const probability = new Map<number, number>()
    for (let seed = 0; seed < count; seed += 1)
      for (const { token, logprob } of sample(state, prompt, { ...OPTIONS, topP: 0.5, seed, maxTokens: 1 })) {
        frequency.set(token, (frequency.get(token) ?? 0) + 1 / count)
        probability.set(token, Math.exp(logprob))
      }
    const total = [...probability.values()].reduce((sum, value) => sum + value, 0)
    const smallest = Math.min(...probability.values())
    assert.ok(total >= 0.5 && total - smallest < 0.5)
    for (const [token, share] of frequency)
      assert.ok(Math.abs(share - probability.get(token)! / total) < 0.05)
  })

  it('samples among the most probable tokens with top-k and min-p', () => {
    const flat = baseState('tiny/byte')
    const logitBias = new Map([65, 66, 67, 68].map((token, rank) => [token, 100 - rank]))
    const seen = (options: Partial<SamplingOptions>) => {
      const given = { ...options, logitBias, temperature: 2, maxTokens: 1 }
      const seeds = Array.from({ length: 60 }, (_, seed) => seed)
      return [...new Set(seeds.flatMap((seed) => tokensOf(flat, [1], { ...given, seed })))].sort()
    }
    assert.deepEqual(seen({}), [65, 66, 67, 68])
    for (const topK of [1, 2, 3]) assert.deepEqual(seen({ topK }), [65, 66, 67].slice(0, topK))
    // The shares of the tokens are about 1, e^-0.5 and e^-1.
    assert.deepEqual(seen({ minP: 0.5 }), [65, 66])
    assert.deepEqual(seen({ minP: 1 }), [65])
    assert.deepEqual(seen({ topK: 2, topP: 0.1 }), [65])
  })

  it('tells the most probable tokens by the own distribution of the model', () => {
    const prompt = arbitraryPrompt(6)
    const change = {
      temperature: 0.5,
      topK: 5,
      logitBias: new Map([[1, 50]]),
      repetitionPenalty: 2,
      topLogprobs: 20,
    }
    for (const { token, logprob, top } of sample(state, prompt, { ...OPTIONS, ...change, maxTokens: 3 })) {
      const probabilities = top!.map((one) => Math.exp(one.logprob))
      assert.deepEqual(
        probabilities,
        probabilities.toSorted((a, b) => b - a),
      )
      assert.equal(top!.length, 20)
      assert.equal(new Set(top!.map((one) => one.token)).size, 20)
      const told = top!.find((one) => one.token === token)
      if (told !== undefined) assert.equal(told.logprob, logprob)
    }
    const [plain] = [...sample(state, prompt, { ...OPTIONS, maxTokens: 1, temperature: 0, topLogprobs: 1 })]
    assert.deepEqual(plain!.top, [{ token: plain!.token, logprob: plain!.logprob }])
    assert.ok(!('top' in [...sample(state, prompt, OPTIONS)][0]!))
  })

  it('follows biases and penalties, also at temperature 0', () => {
    const prompt = arbitraryPrompt(5)
    const flat = baseState('tiny/byte')
    const greedy = { temperature: 0, maxTokens: 8 }
    assert.deepEqual(
      tokensOf(flat, prompt, { ...greedy, logitBias: new Map([[65, 100]]) }),
      Array(8).fill(65),
    )
    const [first] = tokensOf(flat, prompt, greedy)
    assert.ok(!tokensOf(flat, prompt, { ...greedy, logitBias: new Map([[first!, -100]]) }).includes(first!))
    const repeating = {
      ...greedy,
      logitBias: new Map([
        [65, 100],
        [66, 99],
      ]),
    }
    assert.deepEqual(tokensOf(flat, prompt, { ...repeating, presencePenalty: 2 }).slice(0, 3), [65, 66, 65])
    assert.deepEqual(
      tokensOf(flat, prompt, { ...repeating, frequencyPenalty: 2 }).slice(0, 4),
      [65, 66, 65, 66],
    )
    assert.deepEqual(tokensOf(flat, [65], { ...repeating, repetitionPenalty: 2 })[0], 66)
    assert.deepEqual(tokensOf(flat, [67], { ...repeating, repetitionPenalty: 2 }).slice(0, 2), [65, 66])
    assert.deepEqual(tokensOf(flat, [67], { ...repeating, presencePenalty: -2 }), Array(8).fill(65))
  })

  it('gives neighbouring seeds and their choices unrelated numbers', () => {
    const firsts = new Set<number>()
    for (let seed = -50; seed < 50; seed += 1)
      for (let choice = 0; choice < 8; choice += 1) firsts.add(randomNumbers(seedOfChoice(seed, choice))())
    assert.equal(firsts.size, 800)
    assert.notEqual(randomNumbers(5)(), randomNumbers(5 + 2 ** 32)())
    assert.equal(seedOfChoice(7, 0), 7)
  })

  it('ends after END_OF_TEXT, at maxTokens and at the end of the context', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.integer({ min: 1, max: 40 }), (seed, maxTokens) => {
        const tokens = tokensOf(baseState('tiny/byte'), arbitraryPrompt(2), {
          seed,
          maxTokens,
          temperature: 2,
        })
        const end = tokens.indexOf(END_OF_TEXT)
        assert.equal(tokens.length, end === -1 ? maxTokens : end + 1)
      }),
      { numRuns: 20 },
    )
    assert.ok(tokensOf(state, arbitraryPrompt(510)).length <= 2)
    assert.deepEqual(tokensOf(state, arbitraryPrompt(512)), [])
  })

  it('refuses prompts that do not fit', () => {
    assert.throws(
      () => tokensOf(state, arbitraryPrompt(513)),
      (error) => error instanceof PromptTooLong && /513.*512/.test(error.message),
    )
    assert.throws(() => tokensOf(state, []), SequenceInvalid)
    assert.throws(() => tokensOf(state, [VOCABULARY]), SequenceInvalid)
  })

  it('refuses to sample from logits that are not finite', () => {
    const broken = { ...state, weights: state.weights.map((weight) => weight * 1e30) }
    assert.throws(() => tokensOf(broken, arbitraryPrompt(3)), TrainingDiverged)
  })
})
