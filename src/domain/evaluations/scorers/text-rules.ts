import * as E from 'fp-ts/lib/Either.js'
import type { Json } from '../../../kernel/json/json.js'
import type { Pattern } from '../../../kernel/ports/patterns.js'
import type { ScoringTools } from '../../../kernel/ports/scoring-tools.js'
import type { Scored, Rule } from '../scoring.js'
import type { BuiltInSettings } from './built-in-settings.js'

/** The time to compare two texts grows with the product of their lengths: 20,000 characters take 0.1 s. */
const MAX_COMPARED = 20_000
/** ROUGE takes about ten times as long. */
const MAX_ROUGE = 10_000
const MAX_MATCHED = 1_000_000
/** A shorter text cannot take long, so it is matched without the cost of a time limit (0.1 ms). */
const QUICKLY_MATCHED = 200

export const contains = ({ ignore_case, values, match }: BuiltInSettings<'ContainsScorer'>): Rule => {
  const plain = (text: string) => (ignore_case ? text.toLowerCase() : text)
  const constants = values?.map(plain)
  return onText((output, target) => {
    const wanted = constants ?? textsIn(target)?.map(plain)
    if (wanted === undefined) return { failed: 'target is not a text or a list of texts' }
    const text = plain(output)
    const isFound = (part: string) => text.includes(part)
    return { value: { contains: match === 'all' ? wanted.every(isFound) : wanted.some(isFound) } }
  })
}

/** An empty list would match everything or nothing by accident. */
const textsIn = (value: Json | undefined): readonly string[] | undefined => {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
    ? value
    : undefined
}

export const regex = (
  { pattern, ignore_case, full_match }: BuiltInSettings<'RegexScorer'>,
  { compilePattern, withinTime }: ScoringTools,
): E.Either<string, Rule> => {
  // Compiled alone first: wrapped in a group, `a)|(b` would compile.
  const alone = compilePattern(pattern)
  if ('error' in alone) return E.left(`pattern: ${alone.error}`)
  const wrapped = `${ignore_case ? '(?i)' : ''}${full_match ? `\\A(?:${pattern})\\z` : pattern}`
  const compile = (): Pattern | undefined => {
    const compiled = compilePattern(wrapped)
    return 'error' in compiled ? undefined : compiled.pattern
  }
  let matches = compile()
  if (matches === undefined) return E.left('pattern: cannot be combined with full_match')
  return E.right(
    onText((output) => {
      if (output.length > MAX_MATCHED) return tooLong('output', MAX_MATCHED)
      if (output.length <= QUICKLY_MATCHED) return { value: { regex_match: matches!(output) } }
      const result = withinTime(() => matches!(output))
      if ('value' in result) return { value: { regex_match: result.value } }
      // An interrupted matcher may be in an inconsistent state.
      matches = compile()
      return { failed: `pattern: ${result.error}` }
    }),
  )
}

export const editDistance = (
  { ignore_case }: BuiltInSettings<'EditDistanceScorer'>,
  tools: ScoringTools,
): Rule =>
  onTexts((output, target) => {
    const [a, b] = ignore_case ? [output.toLowerCase(), target.toLowerCase()] : [output, target]
    const compared = distanceOf(a, b, tools)
    if ('failed' in compared) return compared
    const { distance, longest } = compared
    return { value: { edit_distance: distance, similarity: longest === 0 ? 1 : 1 - distance / longest } }
  })

export const levenshtein = (tools: ScoringTools): Rule =>
  onTexts((output, target) => {
    const compared = distanceOf(output, target, tools)
    return 'failed' in compared ? compared : { value: { levenshtein_distance: compared.distance } }
  })

const distanceOf = (output: string, target: string, tools: ScoringTools) => {
  const long = tooLongOf(output, target, MAX_COMPARED)
  if (long !== undefined) return long
  const [a, b] = inCodeUnits(output, target)
  return { distance: tools.editDistance(a, b), longest: Math.max(a.length, b.length) }
}

export const stringMatch: Rule = onTexts((output, target) => ({
  value: { string_in_input: target.toLowerCase().includes(output.toLowerCase()) },
}))

const HAS_WORDS = /[\p{L}\p{M}\p{N}]/u

export const rouge = (
  { ignore_case }: BuiltInSettings<'RougeScorer'>,
  { rouge: scoreOf, withinTime }: ScoringTools,
): Rule =>
  onTexts((output, target) => {
    const long = tooLongOf(output, target, MAX_ROUGE)
    if (long !== undefined) return long
    if (!HAS_WORDS.test(target)) return { failed: 'target has no words' }
    if (!HAS_WORDS.test(output)) return { value: { rouge1: 0, rouge2: 0, rougeL: 0 } }
    const [a, b] = ignore_case ? [output.toLowerCase(), target.toLowerCase()] : [output, target]
    const result = withinTime(() => scoreOf(a, b))
    return 'value' in result ? { value: { ...result.value } } : { failed: result.error }
  })

function onText(score: (output: string, target: Json | undefined) => Scored): Rule {
  return (output, target) =>
    typeof output === 'string' ? score(output, target) : { failed: 'output is not a text' }
}

function onTexts(score: (output: string, target: string) => Scored): Rule {
  return onText((output, target) =>
    typeof target === 'string' ? score(output, target) : { failed: 'target is not a text' },
  )
}

const tooLongOf = (output: string, target: string, most: number) => {
  if (output.length > most) return tooLong('output', most)
  return target.length > most ? tooLong('target', most) : undefined
}

const tooLong = (argument: string, most: number) => ({
  failed: `${argument} has more than ${most} characters`,
})

const ASTRAL = /[\ud800-\udbff][\udc00-\udfff]/

/**
 * Both texts with one UTF-16 unit for each character (code point), so that units can be compared in the place of
 * characters. They have to have fewer than 65,536 different characters together.
 */
const inCodeUnits = (a: string, b: string): readonly [string, string] => {
  if (!ASTRAL.test(a) && !ASTRAL.test(b)) return [a, b]
  const units = new Map<string, string>()
  const written = (text: string): string => {
    let result = ''
    for (const character of text) {
      const unit = units.get(character) ?? String.fromCharCode(units.size)
      units.set(character, unit)
      result += unit
    }
    return result
  }
  return [written(a), written(b)]
}
