import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  bootstrapInterval,
  fractionInterval,
  mcNemar,
  meanInterval,
  normalInterval,
} from '../../../../src/domain/evaluations/paired-statistics.js'

const close = (actual: number, expected: number, tolerance: number) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} instead of ${expected}`)

/** A skewed sample: squares of evenly spread numbers. */
const sample = (size: number) => Float64Array.from({ length: size }, (_, at) => ((at + 0.5) / size) ** 2)

describe('mcNemar', () => {
  it('is the exact binomial test for few discordant pairs', () => {
    close(mcNemar(1, 9), 22 / 1024, 1e-12)
    close(mcNemar(2, 8), 112 / 1024, 1e-12)
    assert.equal(mcNemar(5, 5), 1)
    assert.equal(mcNemar(0, 0), 1)
    close(mcNemar(0, 20), 2 / 2 ** 20, 1e-15)
  })

  it('is chi-squared with continuity correction for many', () => {
    // The two tests agree where one takes over from the other.
    close(mcNemar(460, 541), mcNemar(460, 540), 0.002)
    close(mcNemar(1_000, 1_100), 0.03067, 1e-4)
    assert.equal(mcNemar(1_000, 1_000), 1)
    assert.ok(mcNemar(0, 100_000) < 1e-300)
  })

  it('is symmetric and between 0 and 1', () => {
    fc.assert(
      fc.property(fc.nat(3_000), fc.nat(3_000), (a, b) => {
        const p = mcNemar(a, b)
        assert.ok(p >= 0 && p <= 1)
        assert.equal(mcNemar(b, a), p)
      }),
    )
  })
})

describe('fractionInterval', () => {
  it('is the interval of Agresti and Min', () => {
    const [low, high] = fractionInterval(100, 5, 20) ?? assert.fail()
    const margin = 1.959963984540054 * (Math.sqrt(26 - 225 / 102) / 102)
    close(low, 15 / 102 - margin, 1e-12)
    close(high, 15 / 102 + margin, 1e-12)
    assert.equal(fractionInterval(0, 0, 0), null)
  })

  it('contains the difference and stays between -1 and 1', () => {
    const counts = fc.tuple(fc.nat(500), fc.nat(500), fc.integer({ min: 1, max: 500 }))
    fc.assert(
      fc.property(counts, ([onlyFirst, onlySecond, others]) => {
        const pairs = onlyFirst + onlySecond + others
        const [low, high] = fractionInterval(pairs, onlyFirst, onlySecond) ?? assert.fail()
        const difference = (onlySecond - onlyFirst) / pairs
        assert.ok(-1 <= low && low <= difference && difference <= high && high <= 1)
      }),
    )
  })
})

describe('meanInterval', () => {
  it('is the same each time', () => {
    assert.deepEqual(meanInterval(sample(100)), meanInterval(sample(100)))
  })

  it('is about the normal interval for a smooth sample, resampled or not', () => {
    const values = sample(1_000)
    const width = normalInterval(values)[1] - normalInterval(values)[0]
    bootstrapInterval(values).forEach((bound, at) => close(bound, normalInterval(values)[at]!, width / 15))
    assert.deepEqual(meanInterval(sample(1_001)), normalInterval(sample(1_001)))
    assert.deepEqual(meanInterval(sample(1_000)), bootstrapInterval(sample(1_000)))
  })

  it('lies between the least and the largest difference', () => {
    const values = fc.array(fc.double({ min: -1e9, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(values, (differences) => {
        const sorted = Float64Array.from(differences).sort()
        const [low, high] = meanInterval(sorted) ?? assert.fail()
        const slack = 1e-6
        assert.ok(sorted[0]! - slack <= low && low <= high && high <= sorted[sorted.length - 1]! + slack)
      }),
      { numRuns: 30 },
    )
  })

  it('is null without pairs, and where it overflows', () => {
    assert.equal(meanInterval(new Float64Array()), null)
    assert.equal(meanInterval(Float64Array.of(-Infinity, 1)), null)
  })
})
