import { FIGURES, type Figure } from '../../domain/call/usage.js'

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

/**
 * Folds an entry's eight reported figures to the answer's six counters (facts: tracing API 2.2): both names of prompt
 * and completion tokens are added, and a total of 0 is their sum. False when nothing is left to say.
 */
export const foldInto = (figures: Float64Array, entry: number, into: Float64Array, slot: number): boolean => {
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
