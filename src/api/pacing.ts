/** The part of a projector that says how far behind it is. */
export interface Lagging {
  lagMs(): number
  nextInsert(timeoutMs: number): Promise<void>
}

const MAX_LAG_MS = 750
const MAX_DELAY_MS = 2000

/**
 * Delays writes while the read side is further behind than this, so that it stays within a second; never refuses. Half
 * a second behind is where it is by itself while nobody waits for it.
 */
export const pacing = (projector: Lagging) => async (): Promise<void> => {
  if (projector.lagMs() < MAX_LAG_MS) return
  const until = performance.now() + MAX_DELAY_MS
  while (projector.lagMs() >= MAX_LAG_MS && performance.now() < until)
    await projector.nextInsert(until - performance.now())
}
