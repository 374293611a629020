import type { Position } from '../../domain/ports/event-store.js'
import type { Breaker } from './breaker.js'
import { unknownEndpoint, type Endpoint } from './endpoint.js'

/** How things stand between this process and an endpoint. */
export interface Standing {
  endpoint: Endpoint
  /** It answers again: what waits behind this order is hastened when nothing else is due. */
  hastened: Position | undefined
  inFlight: number
  sent: number
  /** No attempt has ended yet, so that nobody knows whether it hangs. */
  isNew: boolean
}

export interface Standings {
  readonly of: (webhook: string) => Standing
  readonly forget: (webhook: string) => void
  /** How many endpoints have a breaker in a state. */
  readonly breakers: () => Readonly<Record<Breaker['phase'], number>>
}

export const openStandings = (hangs: (webhook: string) => boolean): Standings => {
  const standings = new Map<string, Standing>()
  return {
    of: (webhook) => {
      const found = standings.get(webhook)
      if (found !== undefined) return found
      const endpoint = { ...unknownEndpoint, hangs: hangs(webhook) }
      const made = { endpoint, hastened: undefined, inFlight: 0, sent: 0, isNew: true }
      standings.set(webhook, made)
      return made
    },
    forget: (webhook) => void standings.delete(webhook),
    breakers: () => {
      const counts = { closed: 0, open: 0, probing: 0 }
      for (const { endpoint } of standings.values()) counts[endpoint.breaker.phase] += 1
      return counts
    },
  }
}
