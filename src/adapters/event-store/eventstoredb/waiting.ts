import { backoff } from '../../../runtime/backoff.js'

/** Nothing came in time. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut'
}

/** The promise, or `TimedOut` when it takes longer. What comes of it afterwards is nobody's. */
export const within = async <T>(promise: Promise<T>, ms: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimedOut(`no data within ${ms} ms`)), ms)
  })
  promise.catch(() => undefined)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

const BACKOFF = { firstMs: 50, maxMs: 2000 }

/** Waits longer after each failure in a row, counted from 1, up to two seconds; less once `signal` aborts. */
export const backOff = (failures: number, signal?: AbortSignal): Promise<void> =>
  backoff(failures, signal === undefined ? BACKOFF : { ...BACKOFF, signal })
