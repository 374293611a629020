import { distance } from 'fastest-levenshtein'
import { l, n } from 'js-rouge'
import type { ScoringTools } from '../../domain/ports/scoring-tools.js'

export const editDistance: ScoringTools['editDistance'] = distance

export const rouge: ScoringTools['rouge'] = (candidate, reference) => ({
  rouge1: n(candidate, reference, { n: 1 }),
  rouge2: n(candidate, reference, { n: 2 }),
  rougeL: l(candidate, reference),
})
