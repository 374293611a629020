import assert from 'node:assert/strict'
import fc from 'fast-check'
import { advantagesOf, weightedTrajectories } from '../../../src/engine/advantages.js'
import { policyLoss, type PolicyLossOptions, type PolicySequence } from '../../../src/engine/policy-loss.js'
import { RL_OPTIONS } from './support.js'

const DEFAULTS: PolicyLossOptions = RL_OPTIONS

const near = (found: number, expected: number, tolerance = 1e-9): void =>
  assert.ok(
    Math.abs(found - expected) <= tolerance * Math.max(1, Math.abs(expected)),
    `${found} ≠ ${expected}`,
  )

const logprob = fc.double({ min: -4, max: -0.01, noNaN: true })
const pairs = fc.array(fc.tuple(logprob, fc.option(logprob)), { minLength: 1, maxLength: 6 })
const advantage = fc.double({ min: -3, max: 3, noNaN: true })

const level = fc.constantFrom('token', 'sequence', 'average', 'geometric_average')
const options: fc.Arbitrary<Required<PolicyLossOptions>> = fc.record({
  lossFn: fc.constantFrom('cispo', 'ppo'),
  epsilon: fc.option(fc.double({ min: 0.05, max: 1, noNaN: true })),
  epsilonHigh: fc.option(fc.double({ min: 0.05, max: 4, noNaN: true })),
  importanceSamplingLevel: level,
  maxNegativeAdvantageImportanceSamplingWeight: fc.option(fc.double({ min: 0.5, max: 2, noNaN: true })),
  maskProbRatio: fc.boolean(),
  truncatedImportanceSampling: fc.option(fc.double({ min: 0.5, max: 3, noNaN: true })),
  kimiK2Tau: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
})

/** The loss of each token as the formulas state it. Ratios inside of a stopped gradient come from `frozen`. */
const referenceLosses = (
  fresh: readonly number[],
  { old, advantage: a, weight }: PolicySequence,
  chosen: PolicyLossOptions,
  frozen: readonly number[] = fresh,
): readonly number[] => {
  const ratiosOf = (logprobs: readonly number[]): readonly number[] => {
    const differences = logprobs.map((value, index) => value - (old[index] ?? frozen[index]!))
    const mean = differences.reduce((sum, value) => sum + value, 0) / differences.length
    const bySequence = Math.exp(mean)
    return differences.map((difference) => {
      const byToken = Math.exp(difference)
      switch (chosen.importanceSamplingLevel) {
        case 'token':
          return byToken
        case 'sequence':
          return bySequence
        case 'average':
          return (byToken + bySequence) / 2
        case 'geometric_average':
          return Math.sqrt(byToken) * Math.sqrt(bySequence)
      }
    })
  }
  const low = 1 - (chosen.epsilon ?? { ppo: 0.2, cispo: 1 }[chosen.lossFn])
  const high = 1 + (chosen.epsilonHigh ?? { ppo: chosen.epsilon ?? 0.2, cispo: 4 }[chosen.lossFn])
  const shaped = (ratio: number): number => {
    const capped = Math.min(ratio, chosen.maxNegativeAdvantageImportanceSamplingWeight ?? Infinity)
    return chosen.maskProbRatio && !(capped > low && capped < high) ? 0 : capped
  }
  const clip = (ratio: number): number => Math.min(high, Math.max(low, ratio))
  const [moving, stopped] = [ratiosOf(fresh).map(shaped), ratiosOf(frozen).map(shaped)]
  return fresh.map((value, index) => {
    const difference = frozen[index]! - (old[index] ?? frozen[index]!)
    const adjusted = a - (chosen.kimiK2Tau ?? 0) * difference
    const loss =
      chosen.lossFn === 'cispo'
        ? -clip(stopped[index]!) * adjusted * value
        : -Math.min(moving[index]! * adjusted, clip(moving[index]!) * adjusted)
    const limit = chosen.truncatedImportanceSampling ?? null
    return loss * weight * (limit === null ? 1 : Math.min(stopped[index]!, limit))
  })
}

const total = (values: Iterable<number>): number => [...values].reduce((sum, value) => sum + value, 0)

describe('the loss of a policy', () => {
  it('equals the formulas, and its derivatives their finite differences', () => {
    fc.assert(
      fc.property(pairs, advantage, options, (tokens, ofSequence, chosen) => {
        const fresh = tokens.map(([value]) => value)
        const sequence = { old: tokens.map(([, before]) => before), advantage: ofSequence, weight: 1.5 }
        const found = policyLoss(Float64Array.from(fresh), sequence, chosen)
        const expected = referenceLosses(fresh, sequence, chosen)
        for (const [index, loss] of found.losses.entries()) near(loss, expected[index]!)
        const step = 1e-6
        for (const index of fresh.keys()) {
          const moved = (by: number): number => {
            const shifted = fresh.map((value, other) => (other === index ? value + by : value))
            return total(referenceLosses(shifted, sequence, chosen, fresh))
          }
          const [below, at, above] = [moved(-step), moved(0), moved(step)]
          const [left, right] = [(at - below) / step, (above - at) / step]
          // The two sides differ at a bound of the clipping range: neither is the derivative.
          if (Math.abs(left - right) < 1e-3) near(found.derivatives[index]!, (left + right) / 2, 1e-3)
        }
      }),
    )
  })

  it('trains on-policy tokens with a ratio of 1', () => {
    const sequence = { old: [null, NaN, -Infinity], advantage: 2, weight: 1 }
    for (const lossFn of ['cispo', 'ppo'] as const) {
      const found = policyLoss(Float64Array.of(-1, -2, -3), sequence, { ...DEFAULTS, lossFn })
      assert.deepEqual([...found.ratios], [1, 1, 1])
      assert.deepEqual([...found.derivatives], [-2, -2, -2])
      assert.equal(found.divergenceSum, 0)
    }
  })

  it('counts clipped tokens', () => {
    const sequence = { old: [-1, -3, -1], advantage: 1, weight: 1 }
    const found = policyLoss(Float64Array.of(-1, -1, -3), sequence, { ...DEFAULTS, lossFn: 'ppo' })
    assert.equal(found.clipped, 2)
    assert.equal(found.derivatives[1], 0)
    near(found.derivatives[2]!, -Math.exp(-2))
  })

  it('stays finite for any logprobs', () => {
    const sequence = { old: [-1e308, 1e308, 0], advantage: -1, weight: 1 }
    for (const lossFn of ['cispo', 'ppo'] as const) {
      const found = policyLoss(Float64Array.of(-1, -1, -5000), sequence, { ...DEFAULTS, lossFn })
      for (const values of [found.losses, found.derivatives, found.ratios, [found.divergenceSum]])
        assert.ok([...values].every(Number.isFinite))
    }
  })
})

describe('advantages', () => {
  it('are 0 without a signal', () => {
    assert.deepEqual(advantagesOf([], true), [])
    assert.deepEqual(advantagesOf([3], true), [0])
    assert.deepEqual(advantagesOf([0.1 + 0.2, 0.3], true), [0, 0])
  })

  it('have mean 0, and standard deviation 1 when scaled', () => {
    const rewards = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 2 })
    fc.assert(
      fc.property(rewards, (group) => {
        const mean = total(group) / group.length
        for (const [index, value] of advantagesOf(group, false).entries()) near(value, group[index]! - mean)
        const scaled = advantagesOf(group, true)
        near(total(scaled), 0)
        if (new Set(group).size > 1) near(total(scaled.map((value) => value * value)) / group.length, 1, 1e-4)
      }),
    )
  })

  it('are balanced and scaled, and tokens weighted by trajectory', () => {
    const trajectories = [
      { advantage: 2, trainableTokens: 10 },
      { advantage: -1, trainableTokens: 30 },
      { advantage: -1, trainableTokens: 20 },
    ]
    for (const balance of [-1, -0.5, 0, 0.25, 1]) {
      const weighted = weightedTrajectories(trajectories, balance)
      const tokens = trajectories.flatMap(({ trainableTokens, advantage: before }, index) =>
        Array.from({ length: trainableTokens }, () => ({ ...weighted[index]!, before })),
      )
      near(total(tokens.map(({ weight }) => weight)) / tokens.length, 1)
      const size = total(tokens.map(({ weight, advantage: value }) => weight * Math.abs(value)))
      near(size / tokens.length, 1)
      for (const { before, advantage: after } of tokens) {
        const isRemoved = before < 0 ? balance === 1 : balance === -1
        assert.equal(Math.sign(after) + 0, isRemoved ? 0 : Math.sign(before))
      }
    }
  })
})
