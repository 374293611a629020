import { utf8Bytes } from '../codec/text.js'
import { isJsonObject, type Json } from './json.js'

/** Maximum nesting; deeper bodies are refused. */
export const MAX_DEPTH = 256

/** Whether a value nests deeper than `most`. Stops there, so that a hostile input costs nothing. */
export const deeperThan = (value: unknown, most: number): boolean => {
  if (typeof value !== 'object' || value === null) return false
  if (most === 0) return true
  if (Array.isArray(value)) {
    for (const item of value) if (deeperThan(item, most - 1)) return true
    return false
  }
  if (!isJsonObject(value)) return false
  for (const key in value) if (deeperThan(value[key], most - 1)) return true
  return false
}

/** Upper bound of the JSON text in UTF-8 bytes, without serialising. Stops early above `enough`. */
export const jsonBytesAtMost = (value: Json, enough = Infinity): number => bytesIn(value, enough, 25, 6)

/** A UTF-16 unit takes one to three bytes, or six when escaped; a number or a literal up to 25. */
const bytesIn = (value: Json, enough: number, perLeaf: number, perUnit: number): number => {
  if (typeof value === 'string') return 2 + value.length * perUnit
  if (typeof value !== 'object' || value === null) return perLeaf
  let bytes = 2
  if (Array.isArray(value)) {
    for (const item of value) {
      bytes += 1 + bytesIn(item as Json, enough - bytes, perLeaf, perUnit)
      if (bytes > enough) return bytes
    }
    return bytes
  }
  for (const key in value as Record<string, Json>) {
    const member = (value as Record<string, Json>)[key]!
    bytes += 4 + key.length * perUnit + bytesIn(member, enough - bytes, perLeaf, perUnit)
    if (bytes > enough) return bytes
  }
  return bytes
}

/** Whether a value takes more than `most` bytes as JSON. Serialises only what takes about as much. */
export const isLargerThan = (most: number, value: Json): boolean =>
  jsonBytesAtMost(value, most) > most &&
  (bytesIn(value, 2 * most, 0, 1) > 2 * most || utf8Bytes(JSON.stringify(value)) > most)
