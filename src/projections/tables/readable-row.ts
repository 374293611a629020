import { digitsIn } from '../../domain/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../domain/json/json.js'
import { payloadText } from '../clickhouse-values.js'

/**
 * A row as ClickHouse can read it when it sorts: its JSON parser takes no whole numbers beyond 64 bits, so these are
 * written with an exponent, as text. Any other row stays as it is and is written with the insert.
 */
export const readableRow = (val: JsonObject): Json => (hasHugeInteger(val) ? text(val) : payloadText(val))

const isHugeInteger = (value: number): boolean => {
  const size = Math.abs(value)
  return size >= 2 ** 63 && size < 1e21
}

const hasHugeInteger = (value: Json): boolean => {
  if (typeof value === 'number') return isHugeInteger(value)
  if (typeof value !== 'object' || value === null) return false
  return (Object.values(value) as readonly Json[]).some(hasHugeInteger)
}

const text = (value: Json): string => {
  if (Array.isArray(value))
    return `[${value.map((item, at) => member(value, String(at), item as Json)).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}:${member(value, key, item)}`,
  )
  return `{${members.join(',')}}`
}

const member = (holder: object, key: string, value: Json): string =>
  typeof value === 'number' && isHugeInteger(value)
    ? value.toExponential()
    : (digitsIn(holder, key) ?? text(value))
