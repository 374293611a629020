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
export const jsonBytesAtMost = (value: Json, enough = Infinity): number => {
  if (typeof value === 'string') return stringBytesAtMost(value)
  if (typeof value !== 'object' || value === null) return 25
  let bytes = 2
  if (Array.isArray(value)) {
    for (const item of value) {
      bytes += 1 + jsonBytesAtMost(item as Json, enough - bytes)
      if (bytes > enough) return bytes
    }
    return bytes
  }
  for (const key in value as Record<string, Json>) {
    bytes +=
      2 + stringBytesAtMost(key) + jsonBytesAtMost((value as Record<string, Json>)[key]!, enough - bytes)
    if (bytes > enough) return bytes
  }
  return bytes
}

/** Whether a value takes more than `most` bytes as JSON. */
export const isLargerThan = (most: number, value: Json): boolean =>
  jsonBytesAtMost(value, most) > most && utf8Bytes(JSON.stringify(value)) > most

/** A UTF-16 unit takes at most three bytes, or six when escaped. */
const stringBytesAtMost = (text: string): number => 2 + text.length * 6
