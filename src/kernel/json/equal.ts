import { digitsIn } from './digits.js'
import { isJsonObject, type Json } from './json.js'

/**
 * Deep equality of JSON; the order of object keys does not matter. A number that overflows a double is written as
 * null, so it equals null.
 */
export const jsonEqual = (a: Json | undefined, b: Json | undefined): boolean => {
  if (a === b) return true
  if (isTooLarge(a)) return b === null || isTooLarge(b)
  if (isTooLarge(b)) return a === null
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
): boolean => jsonEqual(a[key], b[key]) && digitsIn(a, key) === digitsIn(b, key)

const isTooLarge = (value: Json | undefined): boolean => typeof value === 'number' && !Number.isFinite(value)
