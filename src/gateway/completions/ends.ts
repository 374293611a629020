import type { Log } from '../../kernel/ports/log.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { Failure } from '../../application/failure.js'
import { backoff } from '../../kernel/backoff.js'
import { within } from '../../kernel/within.js'

/** Sees to it that the end of each completion comes into the log, also where the store is away for a while. */
export interface Ends {
  /**
   * Writes an end. Where that fails or takes long it goes on in the background, and the client gets its answer all the
   * same, without a position. Never rejects.
   */
  readonly write: (attempt: () => Promise<Position | undefined>) => Promise<Position | undefined>
  /** @throws Failure while so many ends wait that no further completion may begin */
  readonly requireRoom: () => void
  /** Waits until all have come, and then until every end is written, altogether no longer than so many milliseconds. */
  readonly settled: (withinMs: number, come?: Promise<void>) => Promise<void>
}

const PATIENCE_MS = 5000
const BACKOFF = { firstMs: 100, maxMs: 5000, ref: false }
const MOST_WAITING = 1000

export const openEnds = (log: Pick<Log, 'info' | 'warn'>): Ends => {
  const unwritten = new Set<Promise<unknown>>()
  let waiting = 0

  const again = async (attempt: () => Promise<Position | undefined>, first: unknown) => {
    waiting += 1
    if (waiting === 1)
      log.warn('gateway.call_end_append_failing', { name: first instanceof Error ? first.name : '' })
    for (let failures = 1; ; failures += 1) {
      await backoff(failures, BACKOFF)
      try {
        const position = await attempt()
        waiting -= 1
        if (waiting === 0) log.info('gateway.call_end_append_recovered')
        return position
      } catch {
        // The store is still away.
      }
    }
  }

  return {
    write: (attempt) => {
      const first = attempt()
      const written = first.catch((error: unknown) => again(attempt, error))
      unwritten.add(written)
      void written.then(() => unwritten.delete(written))
      return within(
        PATIENCE_MS,
        first.catch(() => undefined),
      )
    },
    requireRoom: () => {
      if (waiting >= MOST_WAITING)
        throw new Failure('overloaded', 'The event store does not accept writes. Try again.', {
          retryAfter: 1,
        })
    },
    settled: async (withinMs, come = Promise.resolve()) => {
      await within(
        withinMs,
        come.then(() => Promise.all(unwritten)),
      )
    },
  }
}
