import { RE2JS } from 're2js'
import type { CompilePattern } from '../../domain/ports/patterns.js'

/** RE2 in plain JavaScript: it knows no look-around and no back-references, and takes linear time. */
export const compileRe2: CompilePattern = (source) => {
  try {
    const compiled = RE2JS.compile(source)
    return { pattern: (text) => compiled.test(text) }
  } catch (error) {
    return { error: sentenceOf(error, source) }
  }
}

/** What the library knows of a mistake: what kind it is, and the part of the pattern that it saw it in. */
interface Mistake {
  readonly error?: unknown
  readonly input?: unknown
}

const sentenceOf = (error: unknown, source: string): string => {
  const { error: what, input } = error as Mistake
  const known = typeof what === 'string' ? what : 'too complex'
  return `Invalid pattern at character ${placeOf(known, input, source)}: ${known}`
}

/** Counts from 1. What is missing or trailing, is so at the end, and a parenthesis too many is the last one. */
const placeOf = (what: string, input: unknown, source: string): number => {
  if (what.startsWith('unexpected )')) return source.lastIndexOf(')') + 1
  const at = typeof input === 'string' && !what.startsWith('missing closing') ? source.indexOf(input) : -1
  return Math.max(1, at < 0 ? source.length : at + 1)
}
