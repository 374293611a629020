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
      const token = temperature === 0 ? mostProbable(logits) : drawn(logits, temperature, topP, random())
      yield { token, logprob: logprobOf(logits, token) }
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

const logprobOf = (logits: Floats, token: number): number => {
  const largest = logits[mostProbable(logits)]!
  let sum = 0
  for (const logit of logits) sum += Math.exp(logit - largest)
  const logprob = logits[token]! - largest - Math.log(sum)
  if (!Number.isFinite(logprob)) throw new TrainingDiverged('The logits of the model are not finite.')
  return logprob
}

const drawn = (logits: Floats, temperature: number, topP: number, random: number): number => {
  const largest = logits[mostProbable(logits)]!
  const powers = Array.from(logits, (logit) => Math.exp((logit - largest) / temperature))
  const total = powers.reduce((sum, power) => sum + power, 0)
  const order = topP < 1 ? mostProbableFirst(powers, topP * total) : [...powers.keys()]
  const ofOrder = order.reduce((sum, token) => sum + powers[token]!, 0)
  let remaining = random * ofOrder
  for (const token of order) {
    remaining -= powers[token]!
    if (remaining < 0) return token
  }
  return order.findLast((token) => powers[token]! > 0)!
}

/** The fewest tokens that together reach `least`, at least one. */
const mostProbableFirst = (powers: readonly number[], least: number): readonly number[] => {
  const order = [...powers.keys()].sort((a, b) => powers[b]! - powers[a]! || a - b)
  let sum = 0
  const count = order.findIndex((token) => (sum += powers[token]!) >= least)
  return count === -1 ? order : order.slice(0, count + 1)
}
