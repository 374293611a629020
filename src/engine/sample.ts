import { shapeOf, type ModelState } from './checkpoint.js'
import { createDecoder, type DecodedSequence, type Decoder } from './decoder.js'
import { PromptTooLong, SequenceInvalid, TrainingDiverged } from './errors.js'
import type { Floats } from './kernel.js'
import { randomNumbers } from './random.js'
import { checkTokens, END_OF_TEXT } from './tokens.js'

export interface SamplingOptions {
  /** 0 takes the most probable token each time. */
  readonly temperature: number
  /** Samples among the most probable tokens that together have this probability. */
  readonly topP: number
  readonly seed: number
  readonly maxTokens: number
}

export interface SampledToken {
  readonly token: number
  /** By the model's own distribution, at temperature 1 and without top-p: training computes the same. */
  readonly logprob: number
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
  { temperature, topP, seed, maxTokens }: SamplingOptions,
): Generator<SampledToken, void, undefined> {
  const { context } = shapeOf(state.baseModel)
  checkTokens(prompt)
  if (prompt.length === 0) throw new SequenceInvalid('The prompt has no tokens.')
  if (prompt.length > context)
    throw new PromptTooLong(
      `The prompt has ${prompt.length} tokens; the context of ${state.baseModel} has ${context}.`,
    )
  const random = randomNumbers(seed)
  const count = Math.min(maxTokens, context - prompt.length)
  if (count <= 0) return
  const sequence = openSequence(state)
  try {
    let logits = sequence.append(prompt)
    for (let index = 1; ; index += 1) {
      const best = mostProbable(logits)
      const own = distribution(logits, best, 1)
      const token = temperature === 0 ? best : drawn(logits, best, own, temperature, topP, random())
      yield { token, logprob: logprobOf(logits, token, best, own) }
      if (token === END_OF_TEXT || index === count) return
      logits = sequence.append([token])
    }
  } finally {
    sequence.release()
  }
}

const mostProbable = (logits: Floats): number => {
  let best = 0
  for (let token = 1; token < logits.length; token += 1) if (logits[token]! > logits[best]!) best = token
  return best
}

/** Probabilities of all tokens, times `total`. */
interface Distribution {
  readonly powers: Float64Array
  readonly total: number
}

const distribution = (logits: Floats, best: number, temperature: number): Distribution => {
  const powers = new Float64Array(logits.length)
  let total = 0
  for (let token = 0; token < powers.length; token += 1) {
    powers[token] = Math.exp((logits[token]! - logits[best]!) / temperature)
    total += powers[token]!
  }
  return { powers, total }
}

const logprobOf = (logits: Floats, token: number, best: number, { total }: Distribution): number => {
  const logprob = logits[token]! - logits[best]! - Math.log(total)
  if (!Number.isFinite(logprob)) throw new TrainingDiverged('The logits of the model are not finite.')
  return logprob
}

const drawn = (
  logits: Floats,
  best: number,
  own: Distribution,
  temperature: number,
  topP: number,
  random: number,
): number => {
  const tempered = temperature === 1 ? own : distribution(logits, best, temperature)
  const { powers, total } = topP < 1 ? mostProbableOf(tempered, topP) : tempered
  let remaining = random * total
  for (let token = 0; token < powers.length; token += 1) {
    remaining -= powers[token]!
    if (remaining < 0) return token
  }
  // The sum of the powers was rounded.
  return best
}

/** The fewest tokens that together have a probability of `topP`, at least one. */
const mostProbableOf = ({ powers, total }: Distribution, topP: number): Distribution => {
  const order = [...powers.keys()].sort((a, b) => powers[b]! - powers[a]! || a - b)
  const selected = new Float64Array(powers.length)
  let sum = 0
  for (const token of order) {
    selected[token] = powers[token]!
    sum += powers[token]!
    if (sum >= topP * total) break
  }
  return { powers: selected, total: sum }
}
