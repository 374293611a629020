import type { Json, JsonObject } from '../../../kernel/json/json.js'

/** Upper bound for the length of a response. */
export const MAX_TOKENS = 2 ** 31

/** Assumed maximum length of a choice when the request states none. */
const DEFAULT_MAX_TOKENS = 4096

/** Parameter names for the maximum length. Upstreams differ in which one they honour. */
const LENGTHS = ['max_completion_tokens', 'max_tokens', 'max_output_tokens', 'max_new_tokens', 'n_predict']

/**
 * The maximum number of completion tokens: per choice the largest stated maximum, and at least `min_tokens`.
 *
 * @param choices how many the request asks for
 */
export const maxCompletionTokens = (given: JsonObject, choices: number): number => {
  const said = LENGTHS.map((name) => given[name] ?? null).filter((value) => value !== null)
  // An invalid length counts as unlimited.
  const lengths = (said.length === 0 ? [null] : said).map((value) => lengthIn(value) ?? DEFAULT_MAX_TOKENS)
  const { best_of: tried } = given
  const answers = Math.max(choices, typeof tried === 'number' ? tried : 1)
  return answers * Math.max(...lengths, lengthIn(given['min_tokens']) ?? 0)
}

const lengthIn = (value: Json | undefined): number | undefined => {
  const length = typeof value === 'number' || typeof value === 'string' ? Number(value) : NaN
  return length >= 1 ? Math.min(Math.ceil(length), MAX_TOKENS) : undefined
}
