import { RE2JS } from 're2js'
import type { CompilePattern, PatternError } from '../../kernel/ports/patterns.js'

/** RE2 in JavaScript: linear time, but no lookaround and no backreferences. */
export const compileRe2: CompilePattern = (source) => {
  try {
    const compiled = RE2JS.compile(source)
    return { pattern: (text) => compiled.test(text) }
  } catch (error) {
    return patternError(error, source)
  }
}

/** The library's error: its kind and the part of the pattern where it occurred. */
interface Mistake {
  readonly error?: unknown
  readonly input?: unknown
}

const patternError = (error: unknown, source: string): PatternError => {
  const { error: what, input } = error as Mistake
  const known = typeof what === 'string' ? what : 'too complex'
  const { start, end } = placeOf(known, input, source)
  return {
    error: `Invalid pattern at character ${start + 1}: ${known}`,
    ctx: { start, end, suggestion: null },
  }
}

/** The library reports no position: missing or trailing parts are at the end, and an unexpected parenthesis is the last one. */
const placeOf = (what: string, input: unknown, source: string) => {
  if (what.startsWith('unexpected )')) {
    const at = source.lastIndexOf(')')
    return { start: at, end: at + 1 }
  }
  const at = typeof input === 'string' && !what.startsWith('missing closing') ? source.indexOf(input) : -1
  return at < 0
    ? { start: Math.max(0, source.length - 1), end: source.length }
    : { start: at, end: at + (input as string).length }
}
