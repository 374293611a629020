import { digitsIn } from './digits.js'
import { isJsonObject, type Json } from './json.js'

/** JSON text with sorted keys: equal for deeply equal values. */
export const canonicalJson = (value: Json): string => {
  if (Array.isArray(value))
    return `[${value.map((item, at) => digitsIn(value, at) ?? canonicalJson(item as Json)).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${digitsIn(value, key) ?? canonicalJson(value[key]!)}`)
  return `{${members.join(',')}}`
}
