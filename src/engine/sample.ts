import { shapeOf, type ModelState } from './checkpoint.js'
import { createDecoder, type DecodedSequence, type Decoder } from './decoder.js'
import { PromptTooLong, SequenceInvalid, TrainingDiverged } from './errors.js'
import { randomNumbers } from './random.js'
import { checkTokens, END_OF_TEXT } from './tokens.js'

export interface SamplingOptions {
  /** 0 takes the most probable token each time. */
  readonly temperature: number
  /** Samples among the most probable tokens that together have this probability. */
  readonly topP: number
  readonly seed: number
  readonly maxTokens: number
  /** Samples among this many most probable tokens. */
  readonly topK?: number | null
  /** Samples among tokens of at least this share of the probability of the most probable one. */
  readonly minP?: number
  /** Lowers the logits of the tokens that were sampled before, once or for each time. */
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  /** Divides positive logits of the tokens of prompt and completion so far, and multiplies negative ones. */
  readonly repetitionPenalty?: number
  /** Added to the logits of tokens. */
  readonly logitBias?: ReadonlyMap<number, number>
  /** How many of the most probable tokens are told with each token. */
  readonly topLogprobs?: number
}

export interface TokenLogprob {
  readonly token: number
  /** By the model's own distribution, whatever the options change: training computes the same. */
  readonly logprob: number
}

export interface SampledToken extends TokenLogprob {
  /** The most probable first; absent unless they were asked for. */
  readonly top?: readonly TokenLogprob[]
}

/** Decoders last as long as their state. */
const decoders = new WeakMap<ModelState, Decoder[]>()

const openSequence = (state: ModelState): DecodedSequence => {
  const ofState = decoders.get(state) ?? []
  decoders.set(state, ofState)
  for (const decoder of ofState) {
    const sequence = decoder.open()
    if (sequence !== undefined) return sequence
  }
  const added = createDecoder(state)
  ofState.push(added)
  return added.open()!
}

/**
 * Samples tokens until `END_OF_TEXT`, which it yields, `maxTokens` or the end of the context. Equal seeds give equal
 * tokens.
 *
 * @throws PromptTooLong, SequenceInvalid, TrainingDiverged
 */
export function* sample(
  state: ModelState,
  prompt: readonly number[],
  options: SamplingOptions,
): Generator<SampledToken, void, undefined> {
  const { context } = shapeOf(state.baseModel)
  checkTokens(prompt)
  if (prompt.length === 0) throw new SequenceInvalid('The prompt has no tokens.')
  if (prompt.length > context)
    throw new PromptTooLong(
      `The prompt has ${prompt.length} tokens; the context of ${state.baseModel} has ${context}.`,
    )
  const random = randomNumbers(options.seed)
  const count = Math.min(options.maxTokens, context - prompt.length)
  if (count <= 0) return
  const sequence = openSequence(state)
  try {
    const changed = logitsChange(prompt, options)
    let logits = sequence.append(prompt)
    for (let index = 1; ; index += 1) {
      const logprobs = logprobsOf(logits)
      const token = drawn(changed.apply(logits), options, random)
      const top = options.topLogprobs ?? 0
      yield { token, logprob: logprobs[token]!, ...(top > 0 ? { top: mostProbableOf(logprobs, top) } : {}) }
      if (token === END_OF_TEXT || index === count) return
      changed.sampled(token)
      logits = sequence.append([token])
    }
  } finally {
    sequence.release()
  }
}

type Logits = ArrayLike<number>

const mostProbable = (logits: Logits): number => {
  let best = 0
  for (let token = 1; token < logits.length; token += 1) if (logits[token]! > logits[best]!) best = token
  return best
}

/** @throws TrainingDiverged */
const logprobsOf = (logits: Logits): Float64Array => {
  const largest = logits[mostProbable(logits)]!
  let total = 0
  for (let token = 0; token < logits.length; token += 1) total += Math.exp(logits[token]! - largest)
  const logTotal = Math.log(total)
  const logprobs = Float64Array.from(logits, (logit) => logit - largest - logTotal)
  if (!logprobs.every(Number.isFinite)) throw new TrainingDiverged('The logits of the model are not finite.')
  return logprobs
}

const mostProbableOf = (logprobs: Float64Array, count: number): readonly TokenLogprob[] =>
  [...logprobs.keys()]
    .sort((a, b) => logprobs[b]! - logprobs[a]! || a - b)
    .slice(0, count)
    .map((token) => ({ token, logprob: logprobs[token]! }))

/** What bias and penalties make of logits. */
const logitsChange = (
  prompt: readonly number[],
  {
    logitBias = new Map<number, number>(),
    repetitionPenalty = 1,
    presencePenalty = 0,
    frequencyPenalty = 0,
  }: SamplingOptions,
) => {
  const seen = new Set(prompt)
  const counts = new Map<number, number>()
  return {
    apply: (logits: Logits): Float64Array => {
      const changed = Float64Array.from(logits)
      for (const [token, bias] of logitBias) changed[token]! += bias
      for (const token of seen)
        changed[token]! *= changed[token]! > 0 ? 1 / repetitionPenalty : repetitionPenalty
      for (const [token, count] of counts) changed[token]! -= presencePenalty + count * frequencyPenalty
      return changed
    },
    sampled: (token: number): void => {
      seen.add(token)
      counts.set(token, (counts.get(token) ?? 0) + 1)
    },
  }
}

const drawn = (
  logits: Logits,
  { temperature, topP, topK = null, minP = 0 }: SamplingOptions,
  random: () => number,
): number => {
  const best = mostProbable(logits)
  if (temperature === 0) return best
  const powers = Float64Array.from(logits, (logit) => Math.exp((logit - logits[best]!) / temperature))
  // The power of the most probable token is 1.
  if (minP > 0) for (const [token, power] of powers.entries()) if (power < minP) powers[token] = 0
  const isCut = topP < 1 || topK !== null
  const total = isCut ? keepMostProbable(powers, topK ?? powers.length, topP) : sumOf(powers)
  let remaining = random() * total
  for (let token = 0; token < powers.length; token += 1) {
    remaining -= powers[token]!
    if (remaining < 0) return token
  }
  // The sum of the powers was rounded.
  return best
}

const sumOf = (values: Float64Array): number => {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

/**
 * Sets to 0 all but the `count` largest powers, and of these all but the fewest with a share of `share`, at least one.
 * Returns the sum of the rest.
 */
const keepMostProbable = (powers: Float64Array, count: number, share: number): number => {
  const order = [...powers.keys()].sort((a, b) => powers[b]! - powers[a]! || a - b)
  for (const token of order.slice(count)) powers[token] = 0
  const least = share * sumOf(powers)
  let sum = 0
  for (const token of order) {
    if (sum > 0 && sum >= least) powers[token] = 0
    sum += powers[token]!
  }
  return sum
}
