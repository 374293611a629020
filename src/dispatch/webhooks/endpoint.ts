import { afterFailure, afterSuccess, closed, probeToldNothing, probing, type Breaker } from './breaker.js'

/** How an endpoint bears what is sent to it: a value that each attempt changes. Times are milliseconds. */
export interface Endpoint {
  /** How many attempts may be under way at once; grows by one each time that as many have succeeded. */
  readonly limit: number
  readonly breaker: Breaker
  readonly throttledUntil: number
  /** Its last attempt timed out: it has one slot, among those that such endpoints share. */
  readonly hangs: boolean
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

export const unknownEndpoint: Endpoint = {
  limit: FIRST_LIMIT,
  breaker: closed,
  throttledUntil: 0,
  hangs: false,
}

export const afterAttempt = (endpoint: Endpoint, seen: Seen, now: number): Endpoint => {
  const breaker = seen.receiverUp ? afterSuccess(endpoint.breaker, now) : afterFailure(endpoint.breaker, now)
  const recovered = endpoint.breaker.phase !== 'closed' && breaker.phase === 'closed'
  return {
    limit: recovered ? FIRST_LIMIT : limitAfter(endpoint.limit, seen),
    breaker,
    throttledUntil: Math.max(endpoint.throttledUntil, seen.throttledUntil ?? 0),
    hangs: seen.timedOut,
  }
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

const UNTIL_SOMETHING_ENDS: Leave = { kind: 'wait', until: undefined }

export const leaveOf = (endpoint: Endpoint, inFlight: number, now: number): Leave => {
  const { breaker, throttledUntil, limit, hangs } = endpoint
  if (throttledUntil > now) return { kind: 'wait', until: throttledUntil }
  if (breaker.phase === 'probing') return UNTIL_SOMETHING_ENDS
  if (breaker.phase === 'open') {
    // Nothing that was opened for less can be further away, but for a clock that was set back.
    const isOver = breaker.until <= now || breaker.until - now > breaker.openedFor
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
  breaker: probeToldNothing(endpoint.breaker, now),
})
