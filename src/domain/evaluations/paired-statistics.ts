import { deviationOf, meanOf, percentileOf } from './statistics.js'

/** A 95 % confidence interval. */
export type Interval = readonly [low: number, high: number]

const Z_95 = 1.959963984540054
const RESAMPLES = 2_000
const SEED = 0x9e3779b9

/**
 * With more pairs, the percentiles of the bootstrap are those of the normal distribution to within the noise of its
 * resamples, and 30,000 pairs would take 60 million draws.
 */
const MAX_RESAMPLED = 1_000

/**
 * The interval of the mean of paired differences: the percentile bootstrap with 2,000 resamples of a fixed seed, and the
 * normal interval for more than 1,000 pairs. Null for no pairs, or where a figure overflows. The differences are sorted.
 */
export const meanInterval = (sorted: Float64Array): Interval | null => {
  if (sorted.length === 0) return null
  const interval = sorted.length > MAX_RESAMPLED ? normalInterval(sorted) : bootstrapInterval(sorted)
  return interval.every(Number.isFinite) ? interval : null
}

export const normalInterval = (values: Float64Array): Interval => {
  const mean = meanOf(values)
  const margin = (Z_95 * deviationOf(values, mean)) / Math.sqrt(values.length)
  return [mean - margin, mean + margin]
}

export const bootstrapInterval = (values: Float64Array): Interval => {
  const { length } = values
  const random = generatorOf(SEED)
  const means = new Float64Array(RESAMPLES)
  for (let resample = 0; resample < RESAMPLES; resample += 1) {
    let sum = 0
    for (let drawn = 0; drawn < length; drawn += 1) sum += values[Math.floor(random() * length)]!
    means[resample] = sum / length
  }
  means.sort()
  return [percentileOf(means, 0.025), percentileOf(means, 0.975)]
}

/** Mulberry32: numbers from 0 to 1, the same for the same seed. */
const generatorOf = (seed: number) => {
  let state = seed
  return (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Of more discordant pairs, the chi-squared approximation is accurate. */
const MAX_EXACT = 1_000

/**
 * The two-sided p-value of McNemar's test, from the pairs where only one of the two is true: the exact binomial test up
 * to 1,000 such pairs, else chi-squared with continuity correction.
 */
export const mcNemar = (onlyFirst: number, onlySecond: number): number => {
  const discordant = onlyFirst + onlySecond
  const fewer = Math.min(onlyFirst, onlySecond)
  if (discordant > MAX_EXACT) {
    const distance = Math.max(0, Math.abs(onlyFirst - onlySecond) - 1)
    return Math.min(1, erfc(distance / Math.sqrt(2 * discordant)))
  }
  let term = 0.5 ** discordant
  let tail = term
  for (let k = 0; k < fewer; k += 1) {
    term *= (discordant - k) / (k + 1)
    tail += term
  }
  return Math.min(1, 2 * tail)
}

/** Complementary error function for x ≥ 0, with a relative error below 1.2e-7 (Numerical Recipes). */
const erfc = (x: number): number => {
  const t = 1 / (1 + x / 2)
  const coefficients = [
    0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196,
    1.00002368, -1.26551223,
  ]
  const polynomial = coefficients.reduce((sum, coefficient) => sum * t + coefficient, 0)
  return t * Math.exp(-x * x + polynomial)
}

/**
 * The interval of the difference of two paired fractions, second minus first: Wald with half a pair added to each of the
 * four cells (Agresti and Min, 2005), which holds for few pairs too.
 */
export const fractionInterval = (pairs: number, onlyFirst: number, onlySecond: number): Interval | null => {
  if (pairs === 0) return null
  const total = pairs + 2
  const difference = onlySecond - onlyFirst
  const variance = onlyFirst + onlySecond + 1 - difference ** 2 / total
  const margin = (Z_95 * Math.sqrt(variance)) / total
  return [Math.max(-1, difference / total - margin), Math.min(1, difference / total + margin)]
}
