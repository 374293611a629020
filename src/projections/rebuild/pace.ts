import type { Position } from '../../domain/ports/event-store.js'

/** One look at work that runs through the log. */
export interface Look {
  /** Milliseconds of a monotonic clock. */
  readonly at: number
  readonly reached: Position
  readonly events: number
}

export interface Pace {
  readonly events_per_second: number
  /** Null while nothing can be said. */
  readonly remaining_seconds: number | null
}

/**
 * How fast work went between two looks, and how long it still takes to the target at that pace. Positions have gaps, so
 * what remains is told by the share of positions, not by counting events.
 */
export const paceOf = (from: Look, now: Look, target: Position): Pace => {
  const seconds = (now.at - from.at) / 1000
  if (seconds <= 0) return { events_per_second: 0, remaining_seconds: null }
  const gone = Number(now.reached - from.reached)
  const left = target > now.reached ? Number(target - now.reached) : 0
  return {
    events_per_second: (now.events - from.events) / seconds,
    remaining_seconds: left === 0 ? 0 : gone <= 0 ? null : (left / gone) * seconds,
  }
}
