import { withDigitsOf } from './digits.js'
import { isJsonObject, type Json } from './json.js'
import { MAX_DEPTH } from './measure.js'

/**
 * Replaces lone surrogates, which UTF-8 cannot encode, by U+FFFD in all strings and keys. Ignores what is nested too
 * deep, which is refused.
 */
export const wellFormed = (value: Json, levels = MAX_DEPTH): Json => {
  if (typeof value === 'string') return value.toWellFormed()
  if (levels === 0) return value
  if (Array.isArray(value))
    return withDigitsOf(
      value,
      value.map((item) => wellFormed(item as Json, levels - 1)),
    )
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).map(
    ([key, member]) => [key.toWellFormed(), wellFormed(member, levels - 1)] as const,
  )
  return withDigitsOf(value, Object.fromEntries<Json>(members))
}

/** The escape of a surrogate, which may be a lone one. */
const SURROGATE = /\\u[dD][89a-fA-F]/

/** The value of a JSON text without lone surrogates. */
export const wellFormedOf = (text: string, value: Json): Json =>
  SURROGATE.test(text) ? wellFormed(value) : value
