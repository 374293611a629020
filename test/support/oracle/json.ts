import type { Json, JsonObject } from './operations.js'

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An own property and nothing inherited: a model may be called `constructor`. */
export const property = (value: Json | undefined, key: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined

/** The value as it is kept: a lone surrogate in any string or key becomes U+FFFD. */
export const wellFormed = <T>(value: T): T => rewritten(value) as T

const rewritten = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(rewritten)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.toWellFormed(), rewritten(inner)]),
  )
}

/** Every string anywhere inside, object keys aside. */
export const stringsIn = (value: Json | undefined): ReadonlyArray<string> => {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(stringsIn)
}
