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
