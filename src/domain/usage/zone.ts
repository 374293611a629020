/** Seconds that a zone's local time is ahead of UTC at an instant (seconds since 1970). */
export type Offset = (at: number) => number

/** The offsets of an IANA time zone; undefined for an unknown name. */
export const offsetsOf = (zone: string): Offset | undefined => {
  const clock = clockOf(zone)
  if (clock === undefined) return undefined
  return (at) => {
    const shown = Object.fromEntries(
      clock.formatToParts(at * 1000).map(({ type, value }) => [type, Number(value)]),
    ) as Readonly<Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>>
    const { year, month, day, hour, minute, second } = shown
    return Date.UTC(year, month - 1, day, hour, minute, second) / 1000 - at
  }
}

const clockOf = (zone: string): Intl.DateTimeFormat | undefined => {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
}
