/**
 * Stops requests to a target that keeps failing, then lets one request probe whether it works again. Times are
 * milliseconds of the caller's clock.
 */
export type CircuitBreaker = Closed | Open

interface Closed {
  readonly phase: 'closed'
  readonly failuresInARow: number
}

interface Open {
  /** `probing` while the probe is under way. */
  readonly phase: 'open' | 'probing'
  readonly failuresInARow: number
  readonly until: number
  readonly openMs: number
}

export interface BreakerRules {
  /** Whether a failure opens the breaker. */
  readonly opens: (failuresInARow: number) => boolean
  readonly firstOpenMs: number
  /** The open time doubles after each failed probe, up to this. */
  readonly maxOpenMs: number
}

/** Also the state after a success. */
export const closed: CircuitBreaker = { phase: 'closed', failuresInARow: 0 }

/** Requests that started before the breaker opened may still fail: they do not extend the open time. */
export const afterFailure = (breaker: CircuitBreaker, now: number, rules: BreakerRules): CircuitBreaker => {
  const failuresInARow = breaker.failuresInARow + 1
  const open = (openMs: number): Open => ({ phase: 'open', failuresInARow, until: now + openMs, openMs })
  switch (breaker.phase) {
    case 'closed':
      return rules.opens(failuresInARow) ? open(rules.firstOpenMs) : { phase: 'closed', failuresInARow }
    case 'open':
      return { ...breaker, failuresInARow }
    case 'probing':
      return open(Math.min(2 * breaker.openMs, rules.maxOpenMs))
  }
}

export const probing = (breaker: CircuitBreaker): CircuitBreaker =>
  breaker.phase === 'open' ? { ...breaker, phase: 'probing' } : breaker

/** The probe ended without an outcome: the next request may probe at once. */
export const afterUnknown = (breaker: CircuitBreaker, now: number): CircuitBreaker =>
  breaker.phase === 'probing' ? { ...breaker, phase: 'open', until: Math.min(breaker.until, now) } : breaker
