import { exactDigitsIn } from './digits.js'
import { isJsonObject, type Json } from './json.js'

/** Deep equality of JSON by value: the order of object keys does not matter, and `1.0` equals `1`. */
export const jsonEqual = (a: Json | undefined, b: Json | undefined): boolean => {
  if (a === b) return true
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((_, at) => memberEqual(a, b, at))
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && memberEqual(a, b, key))
  )
}

/** Equality of one member, including digits that a double cannot represent. */
export const memberEqual = <K extends string | number>(
  a: Readonly<Record<K, Json>>,
  b: Readonly<Record<K, Json>>,
  key: K,
): boolean => jsonEqual(a[key], b[key]) && exactDigitsIn(a, key) === exactDigitsIn(b, key)
