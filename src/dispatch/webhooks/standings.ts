import { closed, type CircuitBreaker } from '../../kernel/circuit-breaker.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { afterAttempt, hasRecovered, unknownEndpoint, type Endpoint, type Seen } from './endpoint.js'

/** How things stand between this process and an endpoint. */
export interface Standing {
  endpoint: Endpoint
  /** What waits behind an order is due as soon as nothing else is: the endpoint answers again, or was reset. */
  hastening: { readonly after: Position; readonly ignoresNotBefore: boolean } | undefined
  /** The breaker was closed by hand: the next answer tells whether the endpoint is back. */
  closedByHand: boolean
  inFlight: number
  sent: number
  /** The rate limit allows the next attempt then, by the monotonic clock. */
  sendAgainAt: number
  /** No attempt has ended yet, so that nobody knows whether it hangs. */
  isNew: boolean
}

export interface Standings {
  readonly of: (webhook: string) => Standing
  readonly forget: (webhook: string) => void
  /** Forgets everything but what the rate limit needs. */
  readonly reset: (webhook: string) => Standing
  readonly closeBreaker: (webhook: string) => void
  /** The clock was set back: all waits end as much earlier. */
  readonly clockSetBack: (byMs: number) => void
  /** How many endpoints have a breaker in a state. */
  readonly breakers: () => Readonly<Record<CircuitBreaker['phase'], number>>
}

/** Takes over what an attempt said about its endpoint. */
export const learnFrom = (standing: Standing, seen: Seen, now: number): void => {
  const before = standing.endpoint
  standing.isNew = false
  standing.endpoint = afterAttempt(before, seen, now)
  if (hasRecovered(before, standing.endpoint) || (standing.closedByHand && seen.receiverUp)) {
    standing.hastening = { after: 0n, ignoresNotBefore: false }
    standing.closedByHand = false
  }
  if (standing.endpoint.breaker.phase !== 'closed') standing.hastening = undefined
}

export const openStandings = (hangs: (webhook: string) => boolean): Standings => {
  const standings = new Map<string, Standing>()
  const of = (webhook: string): Standing => {
    const found = standings.get(webhook)
    if (found !== undefined) return found
    const made: Standing = {
      endpoint: { ...unknownEndpoint, hangs: hangs(webhook) },
      hastening: undefined,
      closedByHand: false,
      inFlight: 0,
      sent: 0,
      sendAgainAt: 0,
      isNew: true,
    }
    standings.set(webhook, made)
    return made
  }
  return {
    of,
    forget: (webhook) => void standings.delete(webhook),
    reset: (webhook) => {
      const sendAgainAt = standings.get(webhook)?.sendAgainAt ?? 0
      standings.delete(webhook)
      return Object.assign(of(webhook), { sendAgainAt })
    },
    closeBreaker: (webhook) => {
      const standing = standings.get(webhook)
      if (standing === undefined) return
      if (standing.endpoint.breaker.phase !== 'closed') standing.closedByHand = true
      standing.endpoint = { ...standing.endpoint, breaker: closed, recent: [], throttledUntil: 0 }
    },
    clockSetBack: (byMs) => {
      for (const standing of standings.values()) {
        const { breaker, throttledUntil } = standing.endpoint
        standing.endpoint = {
          ...standing.endpoint,
          breaker: breaker.phase === 'closed' ? breaker : { ...breaker, until: breaker.until - byMs },
          recent: [],
          throttledUntil: throttledUntil - byMs,
        }
      }
    },
    breakers: () => {
      const counts = { closed: 0, open: 0, probing: 0 }
      for (const { endpoint } of standings.values()) counts[endpoint.breaker.phase] += 1
      return counts
    },
  }
}
