/**
 * Keeps an endpoint that fails from being asked again and again. Times are milliseconds; `openedFor` is how long it
 * stays open this time. An outcome that nobody knows is never given to it.
 */
export type Breaker =
  | { readonly phase: 'closed'; readonly inARow: number; readonly seconds: readonly Second[] }
  | { readonly phase: 'open'; readonly until: number; readonly openedFor: number }
  | { readonly phase: 'probing'; readonly openedFor: number }

/** Attempts that ended within one second. */
interface Second {
  readonly second: number
  readonly ended: number
  readonly failed: number
}

const IN_A_ROW = 10
const WINDOW_S = 60
const FEWEST = 20
const SHARE = 0.7
const FIRST_MS = 30_000
const LONGEST_MS = 600_000

export const closed: Breaker = { phase: 'closed', inARow: 0, seconds: [] }

export const afterSuccess = (breaker: Breaker, now: number): Breaker =>
  breaker.phase === 'closed'
    ? { phase: 'closed', inARow: 0, seconds: counted(breaker.seconds, now, 0) }
    : closed

export const afterFailure = (breaker: Breaker, now: number): Breaker => {
  if (breaker.phase === 'open') return breaker
  if (breaker.phase === 'probing') return open(Math.min(2 * breaker.openedFor, LONGEST_MS), now)
  const inARow = breaker.inARow + 1
  const seconds = counted(breaker.seconds, now, 1)
  return inARow >= IN_A_ROW || failsTooOften(seconds)
    ? open(FIRST_MS, now)
    : { phase: 'closed', inARow, seconds }
}

/** One attempt may find out whether the endpoint is back. */
export const probing = (breaker: Breaker): Breaker =>
  breaker.phase === 'open' ? { phase: 'probing', openedFor: breaker.openedFor } : breaker

/** The attempt that was to find out told nothing: another one may, at once. */
export const probeToldNothing = (breaker: Breaker, now: number): Breaker =>
  breaker.phase === 'probing' ? { phase: 'open', until: now, openedFor: breaker.openedFor } : breaker

const open = (openedFor: number, now: number): Breaker => ({
  phase: 'open',
  until: now + openedFor,
  openedFor,
})

const counted = (seconds: readonly Second[], now: number, failed: 0 | 1): readonly Second[] => {
  const second = Math.floor(now / 1000)
  const last = seconds.at(-1)
  if (last?.second === second)
    return [...seconds.slice(0, -1), { second, ended: last.ended + 1, failed: last.failed + failed }]
  return [...seconds.filter((one) => one.second > second - WINDOW_S), { second, ended: 1, failed }]
}

const failsTooOften = (seconds: readonly Second[]): boolean => {
  const ended = seconds.reduce((sum, one) => sum + one.ended, 0)
  const failed = seconds.reduce((sum, one) => sum + one.failed, 0)
  return ended >= FEWEST && failed >= SHARE * ended
}
