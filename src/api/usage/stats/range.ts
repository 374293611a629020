import { bucketStarts } from '../../../domain/usage/starts.js'
import { microseconds, type Instant } from '../../../kernel/codec/instant.js'
import { invalidField } from '../../../application/failure.js'
import { requestedOffset } from '../timezone.js'

const LONGEST_SECONDS = 31 * 86_400
const DAY = 86_400
const MOST_BUCKETS = 10_000

interface RangeRequest {
  readonly start: Instant
  readonly end: Instant
  readonly granularity: number | null
  readonly timezone: string
}

export interface Range {
  readonly granularity: number
  /** Bucket starts, in seconds since 1970. */
  readonly starts: readonly number[]
}

/** Validates a range and splits it into buckets. */
export const rangeOf = ({ start, end, granularity, timezone }: RangeRequest): Range => {
  const offset = requestedOffset(timezone)
  const length = microseconds(end) - microseconds(start)
  if (length <= 0n) throw invalidField(['end'], 'value_error', 'Value error, end should be after start')
  if (length > BigInt(LONGEST_SECONDS) * 1_000_000n && (granularity ?? 0) < DAY) {
    const msg = 'Value error, end should be at most 31 days after start, or the granularity a day or more'
    throw invalidField(['end'], 'value_error', msg)
  }
  const from = Math.floor(Number(microseconds(start)) / 1e6)
  const to = Math.ceil(Number(microseconds(end)) / 1e6)
  const seconds = granularity ?? defaultGranularity(to - from)
  const starts = (to - from) / seconds > MOST_BUCKETS ? [] : bucketStarts(from, to, seconds, offset)
  if (starts.length > 0 && starts.length <= MOST_BUCKETS) return { granularity: seconds, starts }
  const msg = `Value error, the range has more than ${MOST_BUCKETS} buckets: use longer buckets`
  throw invalidField(['granularity'], 'value_error', msg)
}

const HOUR = 3600

/** The default length of buckets. */
const defaultGranularity = (seconds: number): number => {
  if (seconds <= 2 * HOUR) return 300
  if (seconds <= 12 * HOUR) return HOUR
  if (seconds <= 72 * HOUR) return 6 * HOUR
  return seconds <= 336 * HOUR ? 12 * HOUR : 24 * HOUR
}
