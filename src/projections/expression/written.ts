import { raw, sql, type Sql } from '../sql.js'
import { microseconds, parseInstant } from '../../kernel/codec/instant.js'

/** Parses text of the client that is compared with a number, a truth or an instant; undefined if it is none. */

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

export const writtenNumber = (text: string): number | undefined => {
  const number = NUMBER.test(text) ? Number(text) : NaN
  return Number.isFinite(number) ? number : undefined
}

/** 1 or 0. */
export const writtenTruth = (text: string): number | undefined => {
  if (text === 'true') return 1
  if (text === 'false') return 0
  const number = writtenNumber(text)
  return number === undefined ? undefined : Number(number !== 0)
}

/** Microseconds since 1970, of text. A year that no stored time has is before or after all of them. */
export const writtenInstant = (text: string): number | undefined => {
  const written = text.trim()
  const instant = parseInstant(written)
  if (instant !== undefined) return Number(microseconds(instant))
  const year = Number(/^\d{4}(?=-)/.exec(written)?.[0] ?? NaN)
  if (Number.isNaN(year) || parseInstant(`${isLeap(year) ? 2000 : 2001}${written.slice(4)}`) === undefined)
    return undefined
  return year < 2000 ? -FAR : FAR
}

/** In microseconds, beyond every stored time. */
const FAR = 1e17

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

/** Seconds, milliseconds, microseconds and nanoseconds: 1e11 seconds would be the year 5138, and as milliseconds are 1973. */
const UNITS = [
  { below: 1e11, factor: 1e6 },
  { below: 1e14, factor: 1e3 },
  { below: 1e17, factor: 1 },
  { below: Infinity, factor: 1e-3 },
] as const

/** Microseconds since 1970, of a number whose unit follows from its magnitude. */
export const wholeMicroseconds = (number: number): number => {
  const { factor } = UNITS.find(({ below }) => Math.abs(number) < below)!
  return Math.floor(number * factor + 0.5)
}

/** The same in SQL. */
export const wholeMicrosecondsSql = (number: Sql): Sql => {
  const units = UNITS.slice(0, -1).map(({ below, factor }) => `abs(n) < ${below}, n * ${factor}`)
  return sql`arrayMap(n -> floor(multiIf(${raw(units.join(', '))}, n * ${raw(String(UNITS.at(-1)!.factor))}) + 0.5), [${number}])[1]`
}
