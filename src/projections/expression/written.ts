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

/** Microseconds since 1970. */
export const writtenInstant = (text: string): number | undefined => {
  const instant = parseInstant(text.trim())
  return instant === undefined ? undefined : Number(microseconds(instant))
}

export const wholeMicroseconds = (seconds: number): number => Math.floor(seconds * 1_000_000 + 0.5)
