import type { Clock } from '../../src/domain/ports/clock.js'

/** A clock that goes on as clocks do, and jumps as it is told. */
export interface VirtualClock extends Clock {
  /** Milliseconds since 1970. */
  readonly millis: () => number
  /** Backwards where it is negative. */
  readonly advance: (ms: number) => void
}

export const virtualClock = (): VirtualClock => {
  let ahead = 0
  const millis = () => Date.now() + ahead
  return {
    millis,
    now: () => new Date(millis()),
    advance: (ms) => void (ahead += ms),
  }
}
