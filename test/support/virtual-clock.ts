import type { Clock } from '../../src/kernel/ports/clock.js'

/** A clock that goes on as clocks do, and jumps or stands as it is told. Times are milliseconds since 1970. */
export interface VirtualClock extends Clock {
  readonly millis: () => number
  /** Backwards where it is negative. */
  readonly advance: (ms: number) => void
  /** Until it is told otherwise. */
  readonly standAt: (millis: number) => void
}

export const virtualClock = (): VirtualClock => {
  let ahead = 0
  let stands: number | undefined
  const millis = () => stands ?? Date.now() + ahead
  return {
    millis,
    now: () => new Date(millis()),
    advance: (ms) => {
      if (stands === undefined) ahead += ms
      else stands += ms
    },
    standAt: (at) => void (stands = at),
  }
}
