/** The part of a projector that says how far behind it is. */
export interface Lagging {
  lagMs(): number
  nextInsert(timeoutMs: number): Promise<void>
}

const MAX_LAG_MS = 500
const MAX_DELAY_MS = 2000

/** Delays writes while the read side is more than half a second behind, so that it stays within one; never refuses. */
export const pacing = (projector: Lagging) => async (): Promise<void> => {
  if (projector.lagMs() < MAX_LAG_MS) return
  const until = performance.now() + MAX_DELAY_MS
  while (projector.lagMs() >= MAX_LAG_MS && performance.now() < until)
    await projector.nextInsert(until - performance.now())
}
