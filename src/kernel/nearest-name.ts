import { closest, distance } from 'fastest-levenshtein'

/** A question with the known name that a misspelt one is near to; empty if there is none. */
export const didYouMean = (name: string, known: readonly string[]): string => {
  const nearest = closest(name.slice(0, 100), known)
  return distance(name.slice(0, 100), nearest) <= Math.max(2, nearest.length / 4)
    ? `. Did you mean ${nearest}?`
    : ''
}
