/** What throttling needs from the projector. */
export interface ProjectionLag {
  lagMs(): number
  nextInsert(timeoutMs: number): Promise<boolean>
}

const MAX_LAG_MS = 750
const MAX_DELAY_MS = 2000

/**
 * Delays writes while the projection lags by 750 ms, so that it stays below a second; never refuses. A lag of 500 ms is
 * normal, because the projector batches while no read waits. If nothing is inserted within the maximum delay, the
 * projection is stuck and waiting is useless: writes then pass until the next insert. Undefined in a process that does
 * not know the lag, which delays nothing.
 */
export const throttleFor = (projector: ProjectionLag | undefined): (() => Promise<void>) => {
  if (projector === undefined) return () => Promise.resolve()
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
