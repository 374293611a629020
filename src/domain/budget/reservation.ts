import { MOST_TOKENS, type CompletionRequest } from '../completion/request.js'
import type { Json } from '../json/json.js'

/** Tokens that a choice is taken to write at most where the request does not say. */
const USUAL_MOST_TOKENS = 4096

/** The names under which upstreams are told how long an answer may become. Which of them one goes by is its own affair. */
const LENGTHS = ['max_completion_tokens', 'max_tokens', 'max_new_tokens', 'n_predict']

type Asked = Pick<CompletionRequest, 'n' | 'best_of' | 'given'>

/**
 * The tokens that a completion is taken to write at most: for each choice the most that any name for it says, and no less
 * than it has to write.
 */
export const mostWritten = ({ n, best_of, given }: Asked): number => {
  const said = LENGTHS.map((name) => given[name] ?? null).filter((value) => value !== null)
  // What is no length stands for one without end.
  const lengths = (said.length === 0 ? [null] : said).map((value) => lengthIn(value) ?? USUAL_MOST_TOKENS)
  return Math.max(n, best_of ?? 1) * Math.max(...lengths, lengthIn(given['min_tokens']) ?? 0)
}

const lengthIn = (value: Json | undefined): number | undefined => {
  const length = typeof value === 'number' || typeof value === 'string' ? Number(value) : NaN
  return length >= 1 ? Math.min(Math.ceil(length), MOST_TOKENS) : undefined
}
