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

/** A `closed` breaker takes all requests, a `half-open` one takes one that probes the target, an `open` one takes none. */
export const stateOf = (health: Health, now: number): 'closed' | 'half-open' | 'open' => {
  if (health.phase === 'closed') return 'closed'
  return health.phase === 'open' && now >= health.until ? 'half-open' : 'open'
}

/** A request is sent; the first one after the open time is the probe. */
export const startProbe = (health: Health, now: number): Health =>
  stateOf(health, now) === 'half-open' ? probing(health) : health

/**
 * A request ended. While the breaker is open only the probe changes its phase. `isLast`: the breakers of all other targets
 * of the model are open, so this one stays closed.
 */
export const recordOutcome = (
  health: Health,
  outcome: RequestOutcome,
  now: number,
  { isProbe, isLast }: { readonly isProbe: boolean; readonly isLast: boolean },
): Health => {
  if (outcome === 'answer') return health.phase !== 'closed' && !isProbe ? health : healthy
  if (outcome === 'nothing') return isProbe ? afterUnknown(health, now) : health
  if (health.phase !== 'closed' && !isProbe) return { ...health, failuresInARow: health.failuresInARow + 1 }
  const coolMs = outcome === 'fault' ? null : outcome.coolMs
  return afterFailure(health, now, {
    opens: (faults) => (outcome !== 'fault' || faults >= MAX_FAULTS_IN_A_ROW) && !isLast,
    firstOpenMs: coolMs ?? FIRST_OUT_MS,
    maxOpenMs: Math.max(MAX_OUT_MS, coolMs ?? 0),
  })
}
