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

/** Microseconds since 1970, of text. */
export const writtenInstant = (text: string): number | undefined => {
  const instant = parseInstant(text.trim())
  return instant === undefined ? undefined : Number(microseconds(instant))
}

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
export const wholeMicrosecondsSql = (number: string): string => {
  const units = UNITS.slice(0, -1).map(({ below, factor }) => `abs(n) < ${below}, n * ${factor}`)
  return `arrayMap(n -> floor(multiIf(${units.join(', ')}, n * ${UNITS.at(-1)!.factor}) + 0.5), [${number}])[1]`
}
