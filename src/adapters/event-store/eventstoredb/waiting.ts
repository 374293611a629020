import { backoff } from '../../../kernel/backoff.js'
import { within as valueWithin } from '../../../kernel/within.js'

/** Nothing came in time. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut'
}

/** Keeps the process alive: a client that waits for a connection may not. @throws TimedOut */
export const within = async <T>(promise: Promise<T>, ms: number): Promise<T> => {
  const settled = await valueWithin(
    ms,
    promise.then((value) => ({ value })),
    { ref: true },
  )
  if (settled === undefined) throw new TimedOut(`no data within ${ms} ms`)
  return settled.value
}

export const BACKOFF = { firstMs: 50, maxMs: 2000 }

/** Waits longer after each failure in a row, counted from 1, up to two seconds; less once `signal` aborts. */
export const backOff = (failures: number, signal: AbortSignal): Promise<void> =>
  backoff(failures, { ...BACKOFF, signal })
