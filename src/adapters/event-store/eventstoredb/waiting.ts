import { within as valueWithin } from '../../../kernel/within.js'

/** Nothing came in time. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut'
}

/** Keeps the process alive: a call that waits for a connection may not. @throws TimedOut */
export const within = async <T>(promise: Promise<T>, ms: number): Promise<T> => {
  const settled = await valueWithin(
    ms,
    promise.then((value) => ({ value })),
    { ref: true },
  )
  if (settled === undefined) throw new TimedOut(`no response within ${Math.round(ms)} ms`)
  return settled.value
}

export const BACKOFF = { firstMs: 50, maxMs: 2000 }
