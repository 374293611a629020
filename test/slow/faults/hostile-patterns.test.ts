import assert from 'node:assert/strict'
import { compileRe2 } from '../../../src/adapters/patterns/re2.js'
import { COUNTS } from '../../counts.js'

const ROUNDS = COUNTS.hostilePatterns

/** Shapes that backtracking engines take exponential or quadratic time for. */
const SHAPES = [
  '(a+)+$',
  '(a|a)*$',
  '(a|aa)+$',
  '(.*)*$',
  '(.*a){20}$',
  '(a?){60}a{60}',
  '([a-zA-Z]+)*$',
  '(\\w+\\s?)*$',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  'a*a*a*a*a*a*a*a*b',
]
const WRAPPED: readonly ((pattern: string) => string)[] = [
  (p) => p,
  (p) => `^${p}`,
  (p) => `(?:${p})?!`,
  (p) => `x|${p}`,
  (p) => `(?i)${p}`,
  (p) => `(?s)${p}`,
  (p) => `.*${p}`,
  (p) => `(${p})(${p})`,
  (p) => `\\b${p}`,
  (p) => `${p}|[^a]*!`,
]

/** A hundred of them. */
const PATTERNS: readonly string[] = SHAPES.flatMap((shape) => WRAPPED.map((wrap) => wrap(shape)))

const SHORT = 10_000
const LONG = 100_000

describe('hostile patterns', () => {
  /** The quickest of all rounds, in milliseconds, on a text that is nearly what the pattern wants. */
  const took = (pattern: (text: string) => boolean, length: number): number => {
    let quickest = Infinity
    for (let round = 0; round < ROUNDS; round += 1) {
      const text = `${'a'.repeat(length - 1)}${round % 2 === 0 ? '!' : 'a'}`
      const began = performance.now()
      pattern(text)
      quickest = Math.min(quickest, performance.now() - began)
    }
    return quickest
  }

  it('are refused at save, or take linear time: ten times as long for a text ten times as long', () => {
    let taken = 0
    let [short, long, longest] = [0, 0, 0]
    for (const source of PATTERNS) {
      const compiled = compileRe2(source)
      if (!('pattern' in compiled)) continue
      const [little, much] = [took(compiled.pattern, SHORT), took(compiled.pattern, LONG)]
      taken += 1
      short += little
      long += much
      longest = Math.max(longest, much)
    }
    console.log(
      `      ${taken} of ${PATTERNS.length} patterns, ${LONG} letters: ${longest.toFixed(1)} ms at most, ${(long / short).toFixed(2)} times as long for ten times the text`,
    )
    // Quadratic would be a hundred times.
    assert.ok(long < 30 * short)
  })
})
