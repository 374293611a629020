import type { Json } from '../../../kernel/json/json.js'
import { isJsonObject } from '../../../kernel/json/json.js'
import { LARGEST_EXACT } from '../../prices/exact.js'

export const clamp = (value: number): number =>
  Math.min(LARGEST_EXACT, Math.max(-LARGEST_EXACT, Math.trunc(value))) + 0

/** Parsed by hand: a backtracking pattern over megabytes of digits overflows the stack. */
const integerIn = (text: string): number | undefined => {
  const digits = text.trim().replace(/^[+-]/, '')
  return digits === '' || /[^0-9]/.test(digits) ? undefined : clamp(Number(text))
}

const wholeOf = (value: Json | undefined): number | undefined => {
  if (typeof value === 'number') return Number.isNaN(value) ? undefined : clamp(value)
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'string' ? integerIn(value) : undefined
}

/**
 * A figure as the original service reads it: numbers are truncated, true is 1, a string counts if it is a sign and
 * digits with optional whitespace around; anything else is 0. Clamped to ±2^53.
 */
export const figureOf = (value: Json | undefined): number => wholeOf(value) ?? 0

/** A figure that is not below 0; undefined for anything else. */
export const countOf = (value: Json): number | undefined => {
  const count = wholeOf(value)
  return count === undefined || count < 0 ? undefined : count
}

/** A cost in units of 10^-9 or of other parts, rounded; undefined for what is none. Some providers itemise it. */
export const costOf = (value: Json, parts = 1e9): number | undefined => {
  if (isJsonObject(value)) return costOf(value['total_cost'] ?? null, parts)
  const cost = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value
  return typeof cost === 'number' && cost >= 0 ? clamp(Math.round(cost * parts)) : undefined
}

const DECIMAL = /^\d{1,20}(?:\.\d{1,40})?(?:e-?\d{1,3})?$/i
