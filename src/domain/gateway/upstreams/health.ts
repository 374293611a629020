import {
  afterFailure,
  afterUnknown,
  closed,
  probing,
  type CircuitBreaker,
} from '../../../kernel/circuit-breaker.js'

/** The circuit breaker of a model at one upstream, on one monotonic clock. */
export type Health = CircuitBreaker

/**
 * The outcome of a request: a fault is a failed connection, a 5xx, a time-out or no completion; `nothing` means that it was
 * canceled or never sent. An upstream that refuses for its rate, quota or key cools down, for as long as it says.
 */
export type RequestOutcome = 'answer' | 'fault' | 'nothing' | { readonly coolMs: number | null }

export const healthy: Health = closed

export const MAX_FAULTS_IN_A_ROW = 5
export const FIRST_OUT_MS = 5000
export const MAX_OUT_MS = 60_000

/** `in` takes requests, `due` one request that probes it, `out` none. */
export const standingOf = (health: Health, now: number): 'in' | 'due' | 'out' => {
  if (health.phase === 'closed') return 'in'
  return health.phase === 'open' && now >= health.until ? 'due' : 'out'
}

/** A request is sent; the first one after the open time is the probe. */
export const asked = (health: Health, now: number): Health =>
  standingOf(health, now) === 'due' ? probing(health) : health

/**
 * A request ended. While the target is out only the probe changes its phase. `isLast`: no other target of the model is in, so this
 * one stays in.
 */
export const shown = (
  health: Health,
  what: RequestOutcome,
  now: number,
  { isProbe, isLast }: { readonly isProbe: boolean; readonly isLast: boolean },
): Health => {
  if (what === 'answer') return health.phase !== 'closed' && !isProbe ? health : healthy
  if (what === 'nothing') return isProbe ? afterUnknown(health, now) : health
  if (health.phase !== 'closed' && !isProbe) return { ...health, failuresInARow: health.failuresInARow + 1 }
  const coolMs = what === 'fault' ? null : what.coolMs
  return afterFailure(health, now, {
    opens: (faults) => (what !== 'fault' || faults >= MAX_FAULTS_IN_A_ROW) && !isLast,
    firstOpenMs: coolMs ?? FIRST_OUT_MS,
    maxOpenMs: Math.max(MAX_OUT_MS, coolMs ?? 0),
  })
}
