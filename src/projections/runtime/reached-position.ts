import type { Position } from '../../kernel/ports/event-store.js'
import { within } from '../../kernel/within.js'

/** The last position whose rows can be read, and the readers that wait for a later one. */
export interface ReachedPosition {
  readonly get: () => Position
  /** Whether a reader waits, for a position up to this one. */
  readonly isAwaited: (upTo?: Position) => boolean
  /** For other tables, whose position may be an earlier one. */
  readonly reset: (position: Position) => void
  readonly advance: (position: Position) => void
  /** False if the position is not reached in time. */
  readonly waitFor: (position: Position, timeoutMs: number) => Promise<boolean>
}

export const reachedPosition = (start: Position, onWait: () => void): ReachedPosition => {
  let reached = start
  const waiters = new Set<{ readonly position: Position; readonly resolve: () => void }>()

  const reset = (position: Position) => {
    reached = position
    for (const waiter of waiters)
      if (waiter.position <= reached) {
        waiters.delete(waiter)
        waiter.resolve()
      }
  }

  return {
    get: () => reached,
    isAwaited: (upTo) => {
      for (const { position } of waiters) if (upTo === undefined || position <= upTo) return true
      return false
    },
    reset,
    advance: (position) => {
      if (position > reached) reset(position)
    },
    waitFor: async (position, timeoutMs) => {
      if (position <= reached) return true
      let resolve: () => void = () => undefined
      const done = new Promise<void>((resolved) => (resolve = resolved))
      const waiter = { position, resolve }
      waiters.add(waiter)
      onWait()
      await within(timeoutMs, done, { ref: true })
      waiters.delete(waiter)
      return position <= reached
    },
  }
}
