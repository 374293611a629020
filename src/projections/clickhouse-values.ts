import type { Instant } from '../domain/codec/instant.js'
import type { Json } from '../domain/json/json.js'

/** An instant as ClickHouse reads a DateTime64(6, 'UTC'). */
export const dateTime64 = (instant: Instant): string => `${instant.slice(0, 10)} ${instant.slice(11, 26)}`

/** A DateTime64(6, 'UTC') as ClickHouse prints it, back to an instant. */
export const instantFrom = (text: string): Instant => `${text.slice(0, 10)}T${text.slice(11)}Z` as Instant

/**
 * JSON as the value of a text column: an object or a list is taken over as its text, a plain value has to be made into
 * text first.
 */
export const asText = (value: Json): Json =>
  typeof value === 'object' && value !== null ? value : JSON.stringify(value)

/** A double that is a 64-bit integer, in digits: JSON would write the largest ones rounded up, over the edge. */
export const int64 = (value: number): string => BigInt(value).toString()
