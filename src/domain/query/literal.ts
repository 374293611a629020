import { isJsonObject, type Json } from '../json/json.js'

/** The value of a literal. Lists and objects may hold nested `{"$literal": …}`. */
export const literalValue = (written: Json): Json => {
  if (Array.isArray(written)) return written.map((item) => literalValue(item as Json))
  if (!isJsonObject(written)) return written
  const [only, ...more] = Object.entries(written)
  if (only?.[0] === '$literal' && more.length === 0) return literalValue(only[1])
  return Object.fromEntries<Json>(Object.entries(written).map(([key, item]) => [key, literalValue(item)]))
}

/** JSON numbers beyond the range of a double are parsed as infinity. */
export const isFiniteJson = (value: Json): boolean => {
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every((item) => isFiniteJson(item as Json))
  return !isJsonObject(value) || Object.values(value).every(isFiniteJson)
}
