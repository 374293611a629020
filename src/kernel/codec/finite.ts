import * as t from 'io-ts'
import { isJsonObject, type Json } from '../json/json.js'

type Place = readonly (string | number)[]

/** The location of a number that overflows a double; it would be stored as null. */
export const endlessNumberIn = (input: Json, context: t.Context): t.Context | undefined => {
  const place = placeIn(input)
  if (place === undefined) return undefined
  let value: unknown = input
  return place.reduce<t.Context>((above, key) => {
    value = (value as Record<string | number, unknown>)[key]
    return t.appendContext(above, String(key), t.unknown, value)
  }, context)
}

const placeIn = (value: Json): Place | undefined => {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : []
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) {
      const inside = placeIn(value[at] as Json)
      if (inside !== undefined) return [at, ...inside]
    }
  } else if (isJsonObject(value))
    for (const key in value) {
      const inside = placeIn(value[key]!)
      if (inside !== undefined) return [key, ...inside]
    }
  return undefined
}
