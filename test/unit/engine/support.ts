import type { ModelState } from '../../../src/engine/checkpoint.js'
import type { RlGroup, RlOptions } from '../../../src/engine/rl.js'
import { sample } from '../../../src/engine/sample.js'
import { bytesOfTokens, promptTokens } from '../../../src/engine/tokens.js'

export const RL_OPTIONS: RlOptions = {
  learningRate: 1e-2,
  lossFn: 'cispo',
  epsilon: null,
  epsilonHigh: null,
  importanceSamplingLevel: 'token',
  scaleRewards: true,
  normalizeAdvantages: true,
  advantageBalance: 0,
  maxNegativeAdvantageImportanceSamplingWeight: null,
  maskProbRatio: false,
  kimiK2Tau: null,
}

export const decodedText = (tokens: readonly number[]): string =>
  new TextDecoder().decode(bytesOfTokens(tokens))

/** The share of vowels among the characters of a text. */
const vowelShare = (text: string): number => text.replace(/[^aeiou]/g, '').length / Math.max(1, text.length)

const ROLLOUTS = 8

/** Eight answers to one question, rewarded for vowels. */
export const rlGroup = (state: ModelState, question: string, seed: number): RlGroup => {
  const prompt = promptTokens([{ role: 'user', content: question }])
  return Array.from({ length: ROLLOUTS }, (_, rollout) => {
    const options = { temperature: 1, topP: 1, seed: seed * ROLLOUTS + rollout, maxTokens: 16 }
    const sampled = [...sample(state, prompt, options)]
    const completion = sampled.map(({ token }) => token)
    return {
      reward: vowelShare(decodedText(completion)),
      sequences: [
        {
          tokens: [...prompt, ...completion],
          mask: [...prompt.map(() => false), ...completion.map(() => true)],
          logprobs: [...prompt.map(() => null), ...sampled.map(({ logprob }) => logprob)],
        },
      ],
    }
  })
}
