import { parseInstant, type Instant } from '../../kernel/codec/instant.js'

const LAST = '2299-12-31T23:59:59.999999Z' as Instant
const LAST_SECOND = BigInt(Date.parse('2299-12-31T23:59:59Z') / 1000)

/**
 * Of nanoseconds since 1970, truncated to microseconds. Earlier times are 1970, and times after the last instant are that
 * one.
 */
export const instantOfNanoseconds = (nanoseconds: bigint): Instant => {
  if (nanoseconds < 0n) return instantOfNanoseconds(0n)
  const seconds = nanoseconds / 1_000_000_000n
  if (seconds > LAST_SECOND) return LAST
  const micros = String((nanoseconds % 1_000_000_000n) / 1000n).padStart(6, '0')
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${micros}Z` as Instant
}

/** Whole nanoseconds of a time in text; null for what is none. */
export const nanosecondsOf = (text: string): bigint | null => {
  const instant = parseInstant(text)
  if (instant === undefined) return null
  const fraction = /[.,](\d{1,9})/.exec(text)?.[1] ?? ''
  return BigInt(Date.parse(`${instant.slice(0, 19)}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0'))
}
