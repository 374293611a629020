import { RE2JS } from 're2js'
import type { CompilePattern } from '../../kernel/ports/patterns.js'

/** RE2 in JavaScript: linear time, but no lookaround and no backreferences. */
export const compileRe2: CompilePattern = (source) => {
  try {
    const compiled = RE2JS.compile(source)
    return { pattern: (text) => compiled.test(text) }
  } catch (error) {
    return { error: sentenceOf(error, source) }
  }
}

/** The library's error: its kind and the part of the pattern where it occurred. */
interface Mistake {
  readonly error?: unknown
  readonly input?: unknown
}

const sentenceOf = (error: unknown, source: string): string => {
  const { error: what, input } = error as Mistake
  const known = typeof what === 'string' ? what : 'too complex'
  return `Invalid pattern at character ${placeOf(known, input, source)}: ${known}`
}

/**
 * Counts from 1. The library reports no position: missing or trailing parts are at the end, and an unexpected
 * parenthesis is the last one.
 */
const placeOf = (what: string, input: unknown, source: string): number => {
  if (what.startsWith('unexpected )')) return source.lastIndexOf(')') + 1
  const at = typeof input === 'string' && !what.startsWith('missing closing') ? source.indexOf(input) : -1
  return Math.max(1, at < 0 ? source.length : at + 1)
}
