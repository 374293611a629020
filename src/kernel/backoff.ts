import { setTimeout as sleep } from 'node:timers/promises'

interface Backoff {
  readonly firstMs: number
  readonly maxMs: number
  /** Ends the wait early. */
  readonly signal?: AbortSignal
  /** Whether the wait keeps the process alive. */
  readonly ref?: boolean
}

/** Waits twice as long after each failure in a row, counted from 1. */
export const backoff = async (
  failures: number,
  { firstMs, maxMs, signal, ref = true }: Backoff,
): Promise<void> => {
  const options = signal === undefined ? { ref } : { signal, ref }
  await sleep(Math.min(firstMs * 2 ** (failures - 1), maxMs), undefined, options).catch(() => undefined)
}

/**
 * Repeats a task that fails, with back-off. `again` gets the error and the number of tries so far: false throws the
 * error, and `again` may throw another one.
 */
export const retry = async <A>(
  task: () => A | Promise<A>,
  again: (error: unknown, tries: number) => boolean,
  options: Backoff,
): Promise<A> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await task()
    } catch (error) {
      if (!again(error, tries)) throw error
    }
    await backoff(tries, options)
  }
}
