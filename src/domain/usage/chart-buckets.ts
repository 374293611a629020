import { calendarStarts } from './calendar.js'
import { bucketStarts } from './starts.js'
import type { Offset } from './zone.js'

const MAX_BUCKETS = 62
const HOUR = 3600
const DAY = 24 * HOUR
const LENGTHS = [60, 300, 900, HOUR, 3 * HOUR, 6 * HOUR, DAY]

/** The starts of at most about 62 buckets for a chart of a range, from minutes to months, in seconds since 1970. */
export const chartStarts = (from: number, to: number, offset: Offset): readonly number[] => {
  const length = LENGTHS.find((seconds) => (to - from) / seconds <= MAX_BUCKETS)
  if (length !== undefined) return bucketStarts(from, to, length, offset)
  return calendarStarts(from, to, (to - from) / DAY <= 7 * MAX_BUCKETS ? 'week' : 'month', offset)
}
