/** How a model at one upstream does; times are those of one monotonic clock, in milliseconds. */
export interface Health {
  /** Connections that failed, answers of 5xx and time-outs, since the last answer. */
  readonly faults: number
  /** Null while it is asked as usual. */
  readonly out: Out | null
}

interface Out {
  readonly until: number
  readonly forMs: number
  /** Whether a request is under way that decides whether it comes back. */
  readonly isProbing: boolean
}

/** What a request that was made shows of its upstream; `nothing`: it was given up, or never got so far. */
export type Shown = 'answer' | 'fault' | 'nothing'

export const healthy: Health = { faults: 0, out: null }

export const FAULTS_IN_A_ROW = 5
export const FIRST_WAIT_MS = 5000
export const LONGEST_WAIT_MS = 60_000

/** `in` as usual, `due` for one request that probes it, or `out`. */
export const standingOf = ({ out }: Health, now: number): 'in' | 'due' | 'out' => {
  if (out === null) return 'in'
  return now >= out.until && !out.isProbing ? 'due' : 'out'
}

/** A request is made of it; the first after it was out for its time is the probe. */
export const asked = (health: Health, now: number): Health =>
  health.out !== null && standingOf(health, now) === 'due'
    ? { ...health, out: { ...health.out, isProbing: true } }
    : health

/** A request showed something. `isLast`: no other target of the model is in, so that this one is not taken out. */
export const shown = (
  health: Health,
  what: Shown,
  now: number,
  { isProbe, isLast }: { readonly isProbe: boolean; readonly isLast: boolean },
): Health => {
  if (what === 'answer') return health.out === null || isProbe ? healthy : health
  if (what === 'nothing')
    return isProbe && health.out !== null ? { ...health, out: { ...health.out, isProbing: false } } : health
  const faults = health.faults + 1
  if (health.out !== null) return isProbe ? { faults, out: outAgain(health.out, now) } : { ...health, faults }
  if (faults < FAULTS_IN_A_ROW || isLast) return { faults, out: null }
  return { faults, out: { until: now + FIRST_WAIT_MS, forMs: FIRST_WAIT_MS, isProbing: false } }
}

const outAgain = ({ forMs }: Out, now: number): Out => {
  const longer = Math.min(2 * forMs, LONGEST_WAIT_MS)
  return { until: now + longer, forMs: longer, isProbing: false }
}
