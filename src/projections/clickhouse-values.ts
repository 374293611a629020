import type { Instant } from '../kernel/codec/instant.js'
import { holdsDigits } from '../kernel/json/digits.js'
import type { Json, JsonObject } from '../kernel/json/json.js'
import { jsonText, memberText } from '../kernel/json/text.js'
import { JsonText } from '../kernel/ports/clickhouse.js'

/** The type of all times. */
export const SQL_TIME = "DateTime64(6, 'UTC')"

/** An instant as ClickHouse reads an SQL_TIME. */
export const dateTime64 = (instant: Instant): string => `${instant.slice(0, 10)} ${instant.slice(11, 26)}`

/** An SQL_TIME as ClickHouse prints it, back to an instant. */
export const instantFrom = (text: string): Instant => `${text.slice(0, 10)}T${text.slice(11)}Z` as Instant

/** An object or a list as the value of a text column: the insert makes its text, which has only doubles. */
export const payloadText = (value: JsonObject | readonly Json[] | null): Json =>
  value === null ? 'null' : holdsDigits(value) ? jsonText(value) : value

/** The JSON of a field from the blob store as the value of a text column. */
export const storedText = (text: string | undefined): JsonText | string | undefined =>
  text !== undefined && /^[[{]/.test(text) ? new JsonText(text) : text

/** Any JSON as the value of a text column. */
export const asText = <K extends string>(holder: Readonly<Record<K, Json>>, key: K): Json => {
  const value = holder[key]
  return typeof value === 'object' ? payloadText(value) : memberText(holder, key)
}

/** A double that is a 64-bit integer, in digits: JSON would write the largest ones rounded up, over the edge. */
export const int64 = (value: number): string => BigInt(value).toString()

/**
 * The first and the last value of a DateTime64(6) column, as `from` and `to`. The compiled `min` and `max` of the engine order
 * times before 1970 after the others.
 */
export const timeRange = (column: string): string =>
  `fromUnixTimestamp64Micro(min(toUnixTimestamp64Micro(${column})), 'UTC') AS from,
  fromUnixTimestamp64Micro(max(toUnixTimestamp64Micro(${column})), 'UTC') AS to`
