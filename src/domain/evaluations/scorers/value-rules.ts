import { jsonEqual } from '../../../kernel/json/equal.js'
import type { Json } from '../../../kernel/json/json.js'
import type { BuiltInSettings } from './built-in-settings.js'
import type { Rule } from '../scoring.js'

export const exactMatch = ({ ignore_case, trim }: BuiltInSettings<'ExactMatchScorer'>): Rule => {
  const plain = (value: Json | undefined): Json | undefined => {
    if (typeof value !== 'string') return value
    const trimmed = trim ? value.trim() : value
    return ignore_case ? trimmed.toLowerCase() : trimmed
  }
  return (output, target) => ({ value: { exact_match: jsonEqual(plain(output), plain(target)) } })
}

export const numericTolerance = ({
  absolute_tolerance,
  relative_tolerance,
}: BuiltInSettings<'NumericToleranceScorer'>): Rule => {
  return (output, target) => {
    const expected = numberIn(target)
    if (expected === undefined) return { failed: 'target is not a number' }
    const actual = numberIn(output)
    if (actual === undefined) return { value: { within_tolerance: false, absolute_error: null } }
    const error = Math.abs(actual - expected)
    const allowed = Math.max(absolute_tolerance, relative_tolerance * Math.abs(expected))
    return {
      value: { within_tolerance: error <= allowed, absolute_error: Number.isFinite(error) ? error : null },
    }
  }
}

const MAX_NUMBER = 400

/** A finite number, or its decimal text. */
const numberIn = (value: Json | undefined): number | undefined => {
  const number =
    typeof value === 'string' &&
    value.length <= MAX_NUMBER &&
    /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/.test(value)
      ? Number(value)
      : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
