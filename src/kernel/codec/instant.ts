import * as t from 'io-ts'
import { Codec, refuse } from './codec.js'

declare const instantBrand: unique symbol

/**
 * A UTC instant as text with microseconds, `2026-01-31T09:30:00.123456Z`. Equal instants are equal strings, and
 * string order is time order. Years 1900 to 2299.
 */
export type Instant = string & { readonly [instantBrand]: true }

const FORM =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T t_](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(Z|z|[+-]\d\d(?::?\d\d)?)?)?$/
const CANONICAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

/** Fast path: the format of the SDKs, with a day that every month has. */
const USUAL =
  /^(?:19|20|21|22)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z$/

/** Reads an ISO 8601 date and time, UTC if it has no offset. Truncates below microseconds. */
export const parseInstant = (text: string): Instant | undefined => {
  if (USUAL.test(text)) return `${text.slice(0, 19)}.${text.slice(20, -1).padEnd(6, '0')}Z` as Instant
  const parts = FORM.exec(text)
  if (parts === null) return undefined
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', offset = 'Z'] = parts
  const wall = Date.UTC(+year!, +month! - 1, +day!, +hour, +minute, +second)
  const at = new Date(wall)
  // `Date.UTC` maps the years 0 to 99 to the 20th century.
  const exists =
    at.getUTCFullYear() === +year! &&
    at.getUTCMonth() === +month! - 1 &&
    at.getUTCDate() === +day! &&
    +hour < 24 &&
    +minute < 60 &&
    +second < 60
  const shift = offsetMinutes(offset)
  if (!exists || shift === undefined) return undefined
  const utc = shift === 0 ? at : new Date(wall - shift * 60_000)
  const seconds = utc.toISOString().slice(0, 19)
  if (seconds < '1900' || seconds >= '2300') return undefined
  return `${seconds}.${fraction.slice(0, 6).padEnd(6, '0')}Z` as Instant
}

const offsetMinutes = (offset: string): number | undefined => {
  if (offset === 'Z' || offset === 'z') return 0
  const digits = offset.slice(1).replace(':', '')
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2) || '0')]
  if (hours > 23 || minutes > 59) return undefined
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}

export const instant: Codec<Instant, Instant> = new Codec<Instant, Instant>(
  'date-time',
  (u): u is Instant => typeof u === 'string' && CANONICAL.test(u) && parseInstant(u) === u,
  (u, c) => {
    if (typeof u !== 'string')
      return refuse(u, c, 'datetime_type', 'Input should be a valid datetime, as an ISO 8601 string')
    const parsed = parseInstant(u)
    return parsed === undefined
      ? refuse(
          u,
          c,
          'datetime_from_date_parsing',
          'Input should be a valid ISO 8601 datetime between the years 1900 and 2299',
        )
      : t.success(parsed)
  },
  { type: 'string', format: 'date-time' },
  (u) => (typeof u === 'string' ? parseInstant(u) : undefined),
)

/** `Date` has millisecond precision. */
export const instantOf = (date: Date): Instant => `${date.toISOString().slice(0, 23)}000Z` as Instant

/** Microseconds since 1970, exact. */
export const microseconds = (instant: Instant): bigint =>
  BigInt(Date.parse(`${instant.slice(0, 19)}Z`)) * 1000n + BigInt(instant.slice(20, 26))
