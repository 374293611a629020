/** The loss of a policy gradient, for one sequence at a time. */

export type ImportanceSamplingLevel = 'token' | 'sequence' | 'average' | 'geometric_average'

export interface PolicyLossOptions {
  readonly lossFn: 'cispo' | 'ppo'
  /** The ratio is clipped to 1 − epsilon … 1 + epsilonHigh. Null is the default of the loss function. */
  readonly epsilon: number | null
  readonly epsilonHigh: number | null
  readonly importanceSamplingLevel: ImportanceSamplingLevel
  /** The largest importance ratio. */
  readonly maxNegativeAdvantageImportanceSamplingWeight: number | null
  /** Sets ratios outside of the clipping range to 0. */
  readonly maskProbRatio: boolean
  /** Multiplies the loss of a token by its ratio, by this at most. */
  readonly truncatedImportanceSampling?: number | null
  /** Lowers the advantage of a token by this times (new − old logprob). */
  readonly kimiK2Tau: number | null
}

/** The targets of a sequence. */
export interface PolicySequence {
  /** Logprobs of the policy that sampled the tokens. Null or not finite: the policy under training sampled them. */
  readonly old: readonly (number | null)[]
  readonly advantage: number
  readonly weight: number
}

export interface PolicyLoss {
  /** The loss of each target, already weighted. */
  readonly losses: Float64Array
  /** The derivative of the sum of the losses by the new logprob of each target. */
  readonly derivatives: Float64Array
  /** new / old probability, at the level of the options. */
  readonly ratios: Float64Array
  /** Targets with a ratio outside of the clipping range. */
  readonly clipped: number
  /** The sum of old / new − 1 − log(old / new), an estimate of the divergence that is at least 0. */
  readonly divergenceSum: number
}

/** Differences of logprobs are clamped to ± this. */
const LARGEST_LOG_RATIO = 20

const clippingRange = ({ lossFn, epsilon, epsilonHigh }: PolicyLossOptions): readonly [number, number] => {
  const low = epsilon ?? (lossFn === 'ppo' ? 0.2 : 1)
  return [1 - low, 1 + (epsilonHigh ?? (lossFn === 'ppo' ? low : 4))]
}

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value))
const mean = (values: Float64Array): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

export const policyLoss = (
  logprobs: Float64Array,
  { old, advantage, weight }: PolicySequence,
  options: PolicyLossOptions,
): PolicyLoss => {
  const logRatios = logprobs.map((logprob, index) => {
    const before = old[index]
    if (before == null || !Number.isFinite(before)) return 0
    return clamp(logprob - before, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO)
  })
  const [low, high] = clippingRange(options)
  const ofLevel = ratiosOf(logRatios, options.importanceSamplingLevel)
  const ratios = ofLevel.values.slice()
  const { length } = logprobs
  const [losses, byRatio, derivatives] = [0, 0, 0].map(() => new Float64Array(length)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ]
  const truncation = options.truncatedImportanceSampling ?? null
  const largest = options.maxNegativeAdvantageImportanceSamplingWeight
  let clipped = 0
  for (let i = 0; i < length; i += 1) {
    const isOutside = ratios[i]! < low || ratios[i]! > high
    if (isOutside) clipped += 1
    const isCapped = largest !== null && ratios[i]! > largest
    if (isCapped) ratios[i] = largest
    const isMasked = options.maskProbRatio && (ratios[i]! <= low || ratios[i]! >= high)
    if (isMasked) ratios[i] = 0
    const ofToken = advantage - (options.kimiK2Tau ?? 0) * logRatios[i]!
    const bounded = clamp(ratios[i]!, low, high)
    const factor = weight * (truncation === null ? 1 : Math.min(ratios[i]!, truncation))
    if (options.lossFn === 'cispo') {
      losses[i] = -bounded * ofToken * logprobs[i]! * factor
      derivatives[i] = -bounded * ofToken * factor
    } else {
      const isBound = bounded * ofToken < ratios[i]! * ofToken
      losses[i] = -Math.min(ratios[i]! * ofToken, bounded * ofToken) * factor
      if (!isBound && !isCapped && !isMasked) byRatio[i] = -ofToken * factor
    }
  }
  if (options.lossFn === 'ppo') ofLevel.addDerivatives(byRatio, derivatives)
  return {
    losses,
    derivatives,
    ratios,
    clipped,
    divergenceSum: logRatios.reduce((sum, value) => sum + Math.exp(-value) - 1 + value, 0),
  }
}

interface Ratios {
  readonly values: Float64Array
  /** Adds the derivatives by the new logprobs of a sum whose derivatives by the ratios are given. */
  readonly addDerivatives: (byRatio: Float64Array, to: Float64Array) => void
}

const ratiosOf = (logRatios: Float64Array, level: ImportanceSamplingLevel): Ratios => {
  const ofTokens = logRatios.map((value) => Math.exp(value))
  const ofSequence = Math.exp(mean(logRatios))
  const { length } = logRatios
  /** For each token the derivatives of its ratio: by its own logprob, and by the mean over the sequence. */
  const partsOf = (index: number): readonly [value: number, byOwn: number, byMean: number] => {
    const own = ofTokens[index]!
    if (level === 'token') return [own, own, 0]
    if (level === 'sequence') return [ofSequence, 0, ofSequence]
    if (level === 'average') return [(own + ofSequence) / 2, own / 2, ofSequence / 2]
    const root = Math.sqrt(own * ofSequence)
    return [root, root / 2, root / 2]
  }
  /** A clamped difference does not change with the new logprob. */
  const isClamped = (index: number): boolean => Math.abs(logRatios[index]!) >= LARGEST_LOG_RATIO
  return {
    values: logRatios.map((_, index) => partsOf(index)[0]),
    addDerivatives: (byRatio, to) => {
      let common = 0
      for (let i = 0; i < length; i += 1) {
        const [, byOwn, byMean] = partsOf(i)
        if (!isClamped(i)) to[i]! += byRatio[i]! * byOwn
        common += (byRatio[i]! * byMean) / length
      }
      for (let i = 0; i < length; i += 1) if (!isClamped(i)) to[i]! += common
    },
  }
}
