import { distance } from 'fastest-levenshtein'
import { l, n, sentenceSegment, treeBankTokenize } from 'js-rouge'
import type { ScoringTools } from '../../kernel/ports/scoring-tools.js'

/** Must not be interrupted: the library keeps its state in a table that all calls share. */
export const editDistance: ScoringTools['editDistance'] = distance

/** Finding the sentences takes most of the time, so it is done once for the three scores. */
export const rouge: ScoringTools['rouge'] = (candidate, reference) => {
  const sentences = new Map([candidate, reference].map((text) => [text, sentenceSegment(text)]))
  const segmenter = (text: string): string[] => sentences.get(text) ?? sentenceSegment(text)
  const tokenizer = (text: string): string[] => segmenter(text).flatMap(treeBankTokenize)
  return {
    rouge1: n(candidate, reference, { n: 1, tokenizer }),
    rouge2: n(candidate, reference, { n: 2, tokenizer }),
    rougeL: l(candidate, reference, { segmenter }),
  }
}
