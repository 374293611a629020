/** What throttling needs from the projector. */
export interface ProjectionLag {
  lagMs(): number
  nextInsert(timeoutMs: number): Promise<boolean>
  /** Whether a team has less than the average team of what is not inserted yet. */
  isLight(team: string): boolean
}

/** Delays a write for a team while the read side lags. */
export type Throttle = (team: string) => Promise<void>

const MAX_LAG_MS = 750
/** From here on, writes of all teams are delayed. */
const MOST_LAG_MS = 1500
const MAX_DELAY_MS = 2000

/**
 * Delays writes while the projection lags by 750 ms, so that it stays below a second; never refuses. First it delays the teams
 * that wrote most of what is not inserted. A lag of 500 ms is normal, because the projector batches while no read waits. If nothing is inserted within the maximum delay, the
 * projection is stuck and waiting is useless: writes then pass until the next insert. Undefined in a process that does
 * not know the lag, which delays nothing.
 */
export const throttleFor = (projector: ProjectionLag | undefined): Throttle => {
  if (projector === undefined) return () => Promise.resolve()
  let stuck = false
  const mustWait = (team: string) => {
    const lagMs = projector.lagMs()
    return !stuck && lagMs >= MAX_LAG_MS && (lagMs >= MOST_LAG_MS || !projector.isLight(team))
  }

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
