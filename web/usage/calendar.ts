import { instantAt, wallTime, type Zone } from '../kit/format.js'

export const UNITS = ['hour', 'day', 'week', 'month'] as const
export type Unit = (typeof UNITS)[number]

const HOUR_MS = 3_600_000

/** The wall-clock start of the hour, day, week from Monday or month of a date, some units later. */
const startOf = (wall: string, unit: Unit, later: number): string => {
  const [year = 0, month = 1, day = 1, hour = 0] = wall.split(/[-T:]/).map(Number)
  const monday = (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7
  const at =
    unit === 'month'
      ? Date.UTC(year, month - 1 + later, 1)
      : unit === 'week'
        ? Date.UTC(year, month - 1, day - monday + 7 * later)
        : unit === 'day'
          ? Date.UTC(year, month - 1, day + later)
          : Date.UTC(year, month - 1, day, hour + later)
  return new Date(at).toISOString().slice(0, 19)
}

/** The starts of the units that a range touches, in seconds since 1970. */
export const unitStarts = (start: string, end: string, unit: Unit, zone: Zone): readonly number[] => {
  const [from, to] = [Date.parse(start), Date.parse(end)]
  const first = startOf(wallTime(from, zone), unit, 0)
  const starts: number[] = []
  for (let n = 0; ; n += 1) {
    const at =
      unit === 'hour' ? instantAt(first, zone) + n * HOUR_MS : instantAt(startOf(first, unit, n), zone)
    if (at >= to) return starts
    starts.push(at / 1000)
  }
}
