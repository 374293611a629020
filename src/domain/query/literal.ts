import { isJsonObject, type Json } from '../json/json.js'

/** What a literal stands for: lists and objects may hold further literals, each written out as `{"$literal": …}`. */
export const literalValue = (written: Json): Json => {
  if (Array.isArray(written)) return written.map((item) => literalValue(item as Json))
  if (!isJsonObject(written)) return written
  const [only, ...more] = Object.entries(written)
  if (only?.[0] === '$literal' && more.length === 0) return literalValue(only[1])
  return Object.fromEntries<Json>(Object.entries(written).map(([key, item]) => [key, literalValue(item)]))
}

/** A number too large for a double has become infinite. */
export const isFiniteJson = (value: Json): boolean => {
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every((item) => isFiniteJson(item as Json))
  return !isJsonObject(value) || Object.values(value).every(isFiniteJson)
}
