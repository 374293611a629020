import { bucketStarts } from './starts.js'
import type { Offset } from './zone.js'

export const CALENDAR_UNITS = ['hour', 'day', 'week', 'month'] as const
export type CalendarUnit = (typeof CALENDAR_UNITS)[number]

const HOUR = 3600
const DAY = 24 * HOUR

/**
 * Starts of the local hours, days, weeks (from Monday) or months that cover a range, in seconds since 1970, ascending:
 * the first is at or before `from`, all others are before `to`.
 */
export const calendarStarts = (
  from: number,
  to: number,
  unit: CalendarUnit,
  offset: Offset,
): readonly number[] => {
  if (unit === 'hour') return bucketStarts(from, to, HOUR, offset)
  if (unit === 'day') return bucketStarts(from, to, DAY, offset)
  const isStart = unit === 'week' ? isMonday : isFirstOfMonth
  const starts = bucketStarts(from - LOOK_BACK[unit], to, DAY, offset).filter((start) =>
    isStart(new Date((start + offset(start)) * 1000)),
  )
  return starts.slice(
    Math.max(
      0,
      starts.findLastIndex((start) => start <= from),
    ),
  )
}

/** Longer than the unit, so that a start at or before the range is found. */
const LOOK_BACK = { week: 9 * DAY, month: 33 * DAY } as const

const isMonday = (local: Date): boolean => local.getUTCDay() === 1
const isFirstOfMonth = (local: Date): boolean => local.getUTCDate() === 1
