import { exactDigitsIn } from './digits.js'
import { isJsonObject, type Json } from './json.js'

/** JSON text with sorted keys: equal for values that are equal as JSON, so that `1.0` is written as `1`. */
export const canonicalJson = (value: Json): string => {
  if (Array.isArray(value))
    return `[${value.map((item, at) => exactDigitsIn(value, at) ?? canonicalJson(item as Json)).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${exactDigitsIn(value, key) ?? canonicalJson(value[key]!)}`)
  return `{${members.join(',')}}`
}
