import { MAX_RETRY_AFTER_MS } from '../../domain/webhooks/deliveries/retry-after.js'
import {
  afterFailure,
  afterUnknown as breakerAfterUnknown,
  closed,
  probing,
  type CircuitBreaker,
} from '../../kernel/circuit-breaker.js'

/** How an endpoint bears what is sent to it: a value that each attempt changes. Times are milliseconds. */
export interface Endpoint {
  /** How many attempts may be under way at once; grows by one each time that as many have succeeded. */
  readonly limit: number
  readonly breaker: CircuitBreaker
  /** Attempts of the last minute, by the second in which they ended; empty while the breaker is not closed. */
  readonly recent: readonly Second[]
  readonly throttledUntil: number
  /** Its last attempt timed out: it has one slot, among those that such endpoints share. */
  readonly hangs: boolean
}

interface Second {
  readonly second: number
  readonly ended: number
  readonly failed: number
}

/** What an attempt said about its endpoint. */
export interface Seen {
  readonly receiverUp: boolean
  readonly timedOut: boolean
  /** It timed out, or the endpoint said that it has too much to do. */
  readonly overloaded: boolean
  readonly throttledUntil: number | null
}

const FIRST_LIMIT = 4
const MOST = 16

const MAX_FAILURES_IN_A_ROW = 10
const RECENT_S = 60
/** Below this many attempts the failure rate says little. */
const MIN_RECENT = 20
const MAX_FAILURE_RATE = 0.7
const FIRST_OPEN_MS = 30_000
const MAX_OPEN_MS = 600_000

export const unknownEndpoint: Endpoint = {
  limit: FIRST_LIMIT,
  breaker: closed,
  recent: [],
  throttledUntil: 0,
  hangs: false,
}

export const afterAttempt = (endpoint: Endpoint, seen: Seen, now: number): Endpoint => {
  const isClosed = endpoint.breaker.phase === 'closed'
  const recent = isClosed ? withAttempt(endpoint.recent, now, seen.receiverUp) : []
  // Unlike a failure, a success counts while the breaker is open: the endpoint works.
  const breaker = seen.receiverUp
    ? closed
    : afterFailure(endpoint.breaker, now, {
        opens: (failuresInARow) => failuresInARow >= MAX_FAILURES_IN_A_ROW || failsTooOften(recent),
        firstOpenMs: FIRST_OPEN_MS,
        maxOpenMs: MAX_OPEN_MS,
      })
  const recovered = !isClosed && breaker.phase === 'closed'
  return {
    limit: recovered ? FIRST_LIMIT : limitAfter(endpoint.limit, seen),
    breaker,
    recent,
    throttledUntil: Math.max(endpoint.throttledUntil, seen.throttledUntil ?? 0),
    hangs: seen.timedOut,
  }
}

const withAttempt = (recent: readonly Second[], now: number, succeeded: boolean): readonly Second[] => {
  const second = Math.floor(now / 1000)
  const failed = succeeded ? 0 : 1
  const last = recent.at(-1)
  if (last?.second === second)
    return [...recent.slice(0, -1), { second, ended: last.ended + 1, failed: last.failed + failed }]
  return [...recent.filter((one) => one.second > second - RECENT_S), { second, ended: 1, failed }]
}

const failsTooOften = (recent: readonly Second[]): boolean => {
  const ended = recent.reduce((sum, one) => sum + one.ended, 0)
  const failed = recent.reduce((sum, one) => sum + one.failed, 0)
  return ended >= MIN_RECENT && failed >= MAX_FAILURE_RATE * ended
}

/** How long it may take until a webhook that is to be disabled is. */
const DISABLED_WITHIN_MS = 2000

/** What an answer asks for holds at once, and not only when the log has its end. */
export const heeding = (
  endpoint: Endpoint,
  { throttledUntil, disables }: { readonly throttledUntil: number | null; readonly disables: boolean },
  now: number,
): Endpoint => ({
  ...endpoint,
  throttledUntil: Math.max(
    endpoint.throttledUntil,
    throttledUntil ?? 0,
    disables ? now + DISABLED_WITHIN_MS : 0,
  ),
})

const limitAfter = (limit: number, { receiverUp, overloaded }: Seen): number => {
  if (receiverUp) return Math.min(MOST, limit + 1 / limit)
  return overloaded ? Math.max(1, limit / 2) : limit
}

/** Whether what waits need not wait any longer: the endpoint was given up, and answers again. */
export const hasRecovered = (before: Endpoint, after: Endpoint): boolean =>
  before.breaker.phase !== 'closed' && after.breaker.phase === 'closed'

/** What may be sent to an endpoint now: what is due, one message to see whether it is back, or nothing until then. */
export type Leave =
  | { readonly kind: 'send' }
  | { readonly kind: 'probe' }
  | { readonly kind: 'wait'; readonly until: number | undefined }

/** Small corrections of the clock must not end a Retry-After of a whole day. */
const SLACK_MS = 60_000
const UNTIL_SOMETHING_ENDS: Leave = { kind: 'wait', until: undefined }

export const leaveOf = (endpoint: Endpoint, inFlight: number, now: number): Leave => {
  const { breaker, throttledUntil, limit, hangs } = endpoint
  // A time further away than a Retry-After can be means that the clock was set back.
  if (throttledUntil > now && throttledUntil - now <= MAX_RETRY_AFTER_MS + SLACK_MS)
    return { kind: 'wait', until: throttledUntil }
  if (breaker.phase === 'probing') return UNTIL_SOMETHING_ENDS
  if (breaker.phase === 'open') {
    // A time further away than `openMs` means that the clock was set back.
    const isOver = breaker.until <= now || breaker.until - now > breaker.openMs
    return isOver ? { kind: 'probe' } : { kind: 'wait', until: breaker.until }
  }
  return inFlight < (hangs ? 1 : Math.floor(limit)) ? { kind: 'send' } : UNTIL_SOMETHING_ENDS
}

export const whileProbing = (endpoint: Endpoint): Endpoint => ({
  ...endpoint,
  breaker: probing(endpoint.breaker),
})

/** After an attempt whose outcome nobody knows, which counts for nothing. */
export const afterUnknown = (endpoint: Endpoint, now: number): Endpoint => ({
  ...endpoint,
  breaker: breakerAfterUnknown(endpoint.breaker, now),
})
