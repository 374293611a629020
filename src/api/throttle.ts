/** The part of a projector that says how far behind it is. */
export interface Lagging {
  lagMs(): number
  nextInsert(timeoutMs: number): Promise<boolean>
}

const MAX_LAG_MS = 750
const MAX_DELAY_MS = 2000

/**
 * Delays writes while the read side is further behind than this, so that it stays within a second; never refuses. Half
 * a second behind is where it is by itself while nobody waits for it. Where nothing at all is inserted for the longest
 * delay, waiting helps nobody: writes then go on at once until something is inserted again.
 */
export const throttling = (projector: Lagging) => {
  let stuck = false
  const mustWait = () => !stuck && projector.lagMs() >= MAX_LAG_MS

  const noticeWhenMoving = async () => {
    let moves = false
    while (!moves && projector.lagMs() >= MAX_LAG_MS) moves = await projector.nextInsert(MAX_DELAY_MS)
    stuck = false
  }

  return async (): Promise<void> => {
    if (!mustWait()) return
    const until = performance.now() + MAX_DELAY_MS
    let moves = false
    while (mustWait() && performance.now() < until)
      if (await projector.nextInsert(until - performance.now())) moves = true
    if (moves || !mustWait()) return
    stuck = true
    void noticeWhenMoving()
  }
}
