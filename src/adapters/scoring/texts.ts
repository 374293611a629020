import { distance } from 'fastest-levenshtein'
import { l, n } from 'js-rouge'
import type { ScoringTools } from '../../kernel/ports/scoring-tools.js'

/** Must not be interrupted: the library keeps its state in a table that all calls share. */
export const editDistance: ScoringTools['editDistance'] = distance

/** The tokens of the reference implementation, which knows the letters and digits of ASCII alone. */
const tokenizer = (text: string): string[] => text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
/** `rougeL` compares whole texts, `rougeLsum` would compare sentences. */
const segmenter = (text: string): string[] => [text]

export const rouge: ScoringTools['rouge'] = (candidate, reference) => ({
  rouge1: n(candidate, reference, { n: 1, tokenizer }),
  rouge2: n(candidate, reference, { n: 2, tokenizer }),
  rougeL: l(candidate, reference, { segmenter, tokenizer }),
})
