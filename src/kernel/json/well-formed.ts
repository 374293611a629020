import { withDigitsOf } from './digits.js'
import { isJsonObject, type Json } from './json.js'

/** Replaces lone surrogates, which UTF-8 cannot encode, by U+FFFD in all strings and keys. */
export const wellFormed = (value: Json): Json => {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value))
    return withDigitsOf(
      value,
      value.map((item) => wellFormed(item as Json)),
    )
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).map(
    ([key, member]) => [key.toWellFormed(), wellFormed(member)] as const,
  )
  return withDigitsOf(value, Object.fromEntries<Json>(members))
}
