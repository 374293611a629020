/** What throttling needs from the projector. */
export interface ProjectionLag {
  /** Of all teams, or of the events that a team's reads wait for. */
  lagMs(team?: string): number
  nextInsert(timeoutMs: number): Promise<boolean>
}

/** Delays a write for a team while the read side lags. */
export type Throttle = (team: string) => Promise<void>

const MAX_LAG_MS = 750
const MAX_DELAY_MS = 2000

/**
 * Delays a team's writes while its part of the projection lags by 750 ms, so that it stays below a second; never refuses. A
 * lag of 500 ms is normal, because the projector batches while no read waits. If nothing is inserted within the maximum delay,
 * the projection is stuck and waiting is useless: writes then pass until the next insert. Undefined in a process that does
 * not know the lag, which delays nothing.
 */
export const throttleFor = (projector: ProjectionLag | undefined): Throttle => {
  if (projector === undefined) return () => Promise.resolve()
  let stuck = false
  const mustWait = (team: string) => !stuck && projector.lagMs(team) >= MAX_LAG_MS

  const noticeWhenMoving = async () => {
    let moves = false
    while (!moves && projector.lagMs() >= MAX_LAG_MS) moves = await projector.nextInsert(MAX_DELAY_MS)
    stuck = false
  }

  return async (team) => {
    if (!mustWait(team)) return
    const until = performance.now() + MAX_DELAY_MS
    let moves = false
    while (mustWait(team) && performance.now() < until)
      if (await projector.nextInsert(until - performance.now())) moves = true
    if (moves || !mustWait(team)) return
    stuck = true
    void noticeWhenMoving()
  }
}
