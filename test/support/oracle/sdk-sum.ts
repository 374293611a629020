import { isObject } from './json.js'
import type { Json, JsonObject } from './operations.js'

/** As both SDKs sum the summaries below a call: objects key by key, numbers added, all else collected. */
export const sdkSum = (parts: ReadonlyArray<Json>): Json => {
  const objects = parts.filter(isObject)
  const keys = new Set(objects.flatMap((part) => Object.keys(part)))
  return Object.fromEntries(
    [...keys].map((key): [string, Json] => [key, sumOf(objects.flatMap((part) => at(part, key)))]),
  )
}

const at = (part: JsonObject, key: string): ReadonlyArray<Json> =>
  Object.hasOwn(part, key) ? [part[key]!] : []

const sumOf = (values: ReadonlyArray<Json>): Json => {
  if (values.length === 1) return values[0]!
  if (values.every((value) => typeof value === 'number'))
    return values.reduce<number>((total, value) => total + value, 0)
  return values.every(isObject) ? sdkSum(values) : values
}
