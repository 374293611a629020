import { FIGURES, type Figure } from '../../domain/call/usage.js'
import { chargedTokens } from '../../domain/price/charged-tokens.js'

const REPORTED = FIGURES.length
const at = (figure: Figure): number => FIGURES.indexOf(figure)

const [REQUESTS, PROMPT, INPUT, COMPLETION, OUTPUT, TOTAL, CACHE_READ, CACHE_CREATION] = [
  at('requests'),
  at('prompt_tokens'),
  at('input_tokens'),
  at('completion_tokens'),
  at('output_tokens'),
  at('total_tokens'),
  at('cache_read_input_tokens'),
  at('cache_creation_input_tokens'),
]

/** The counters of an answer, in the order in which they are kept. */
export const COUNTERS = [
  'requests',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const

export const WIDTH = COUNTERS.length

/** What is made of reported figures, and summed up the calls of a trace. */
export interface Counting {
  /** Counters of one entry. */
  readonly width: number
  /** What a call's figures of a model are summed under; ascending with the model. */
  readonly keyOf: (call: number, model: number) => number
  /** Folds an entry's figures into the counters of a slot; false when nothing is left to say. */
  readonly fold: (figures: Float64Array, entry: number, into: Float64Array, slot: number) => boolean
  /** The same of figures of any size. */
  readonly foldExactly: (figures: readonly bigint[]) => readonly bigint[]
}

/**
 * Folds an entry's eight reported figures to the answer's six counters: both names of prompt
 * and completion tokens are added, and a total of 0 is their sum. False when nothing is left to say.
 */
const foldInto = (figures: Float64Array, entry: number, into: Float64Array, slot: number): boolean => {
  const from = entry * REPORTED
  const to = slot * WIDTH
  const prompt = figures[from + PROMPT]! + figures[from + INPUT]!
  const completion = figures[from + COMPLETION]! + figures[from + OUTPUT]!
  const total = figures[from + TOTAL]!
  into[to] = figures[from + REQUESTS]!
  into[to + 1] = prompt
  into[to + 2] = completion
  into[to + 3] = total === 0 ? prompt + completion : total
  into[to + 4] = figures[from + CACHE_READ]!
  into[to + 5] = figures[from + CACHE_CREATION]!
  for (let k = to; k < to + WIDTH; k += 1) if (into[k] !== 0) return true
  return false
}

const foldExactly = (figures: readonly bigint[]): readonly bigint[] => {
  const figure = (place: number): bigint => figures[place]!
  const prompt = figure(PROMPT) + figure(INPUT)
  const completion = figure(COMPLETION) + figure(OUTPUT)
  const total = figure(TOTAL)
  return [
    figure(REQUESTS),
    prompt,
    completion,
    total === 0n ? prompt + completion : total,
    figure(CACHE_READ),
    figure(CACHE_CREATION),
  ]
}

/** The counters of the answer, by model. */
export const usageCounting: Counting = {
  width: WIDTH,
  keyOf: (_call, model) => model,
  fold: foldInto,
  foldExactly,
}

/** Tokens that are charged, each kind at its price. */
export const BILLED_WIDTH = 4

/**
 * What an entry is charged for: tokens of prompt that were neither read from a cache nor
 * written to one, never below 0; of completion; of cache reading and creation.
 */
export const billInto = (figures: Float64Array, entry: number, into: Float64Array, slot: number): boolean => {
  const from = entry * REPORTED
  const to = slot * BILLED_WIDTH
  const read = figures[from + CACHE_READ]!
  const creation = figures[from + CACHE_CREATION]!
  into[to] = Math.max(0, figures[from + PROMPT]! + figures[from + INPUT]! - read - creation)
  into[to + 1] = figures[from + COMPLETION]! + figures[from + OUTPUT]!
  into[to + 2] = read
  into[to + 3] = creation
  return into[to] !== 0 || into[to + 1] !== 0 || read !== 0 || creation !== 0
}

/** What calls are charged for, under the keys of prices. */
export const billedCounting = (keyOf: Counting['keyOf']): Counting => ({
  width: BILLED_WIDTH,
  keyOf,
  fold: billInto,
  foldExactly: chargedTokens,
})
